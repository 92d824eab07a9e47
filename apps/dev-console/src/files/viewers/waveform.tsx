import classes from './viewers.module.css';

/** Draws the peaks of a sound, and the part before `share` (0 to 1) in colour. Without peaks it draws a line. */
export function Waveform({ peaks, share }: { peaks: readonly number[]; share: number }) {
  const drawn = peaks.length === 0 ? [0] : peaks;
  const path = drawn.map((peak, index) => `M${index + 0.5} ${1 - peak}V${1 + peak}`).join('');
  const waves = (
    <svg viewBox={`0 0 ${drawn.length} 2`} preserveAspectRatio="none" aria-hidden="true">
      <path d={`M0 1H${drawn.length}`} strokeWidth={0.02} />
      <path d={path} strokeWidth={0.7} />
    </svg>
  );
  return (
    <span className={classes.waves} data-peaks={peaks.length}>
      {waves}
      <span className={classes.playedWaves} style={{ clipPath: `inset(0 ${100 - share * 100}% 0 0)` }}>
        {waves}
      </span>
    </span>
  );
}
