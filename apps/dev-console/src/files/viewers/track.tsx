import type { FileDetails } from '@review/contract';
import { type PointerEvent, type ReactNode, useCallback, useRef, useState } from 'react';
import { usePins } from '../../comments/pins.ts';
import { useDesk } from '../../review/desk.tsx';
import { FilmFrame } from '../media/film-frame.tsx';
import { filmstripOf } from '../media/renditions.ts';
import { clock } from './clock.ts';
import { Pins } from './pins.tsx';
import type { Playback } from './use-playback.ts';
import classes from './viewers.module.css';

interface TrackProps {
  file: FileDetails;
  playback: Playback;
  /** In seconds. */
  step: number;
  /** The range that is being commented on, in seconds. */
  range: { from: number; to: number } | null;
  /** Drawn behind the slider, in place of a rail. */
  children?: ReactNode;
}

/** The timeline: a slider with the pins of comments, and the picture under the pointer if there is a filmstrip. */
export function Track({ file, playback: { time, length, seek }, step, range, children }: TrackProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const desk = useDesk();
  const pins = usePins(file);
  const strip = filmstripOf(file);
  const share = (seconds: number) => `${(100 * seconds) / (length || 1)}%`;
  const point = (event: PointerEvent<HTMLInputElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setPointed(Math.min(Math.max(0, (event.clientX - left) / width), 1));
  };
  const jump = useRef((_at: number, _id: string) => {});
  jump.current = (at, id) => {
    desk?.select(id);
    seek(at / 1000);
  };
  const onJump = useCallback((at: number, id: string) => jump.current(at, id), []);
  return (
    <div className={classes.track} data-tall={children === undefined ? undefined : true}>
      {children ?? (
        <span className={classes.rail}>
          <span className={classes.played} style={{ width: share(time) }} />
        </span>
      )}
      {range !== null && (
        <span className={classes.rangeRail}>
          <span className={classes.range} style={{ left: share(range.from), width: share(range.to - range.from) }} />
        </span>
      )}
      <input
        type="range"
        className={classes.seek}
        aria-label="Position"
        aria-valuetext={clock(time)}
        min={0}
        max={length || 1}
        step={step}
        value={time}
        onChange={(event) => seek(Number(event.target.value))}
        onPointerMove={strip && point}
        onPointerLeave={() => setPointed(null)}
      />
      {strip !== undefined && pointed !== null && (
        <span className={classes.peek} style={{ left: `clamp(5.5rem, ${pointed * 100}%, calc(100% - 5.5rem))` }}>
          <span className={classes.peekPicture}>
            <FilmFrame strip={strip} at={pointed * length * 1000} />
          </span>
          <span className="numbers">{clock(pointed * length)}</span>
        </span>
      )}
      {length > 0 && <Pins pins={pins} durationMs={length * 1000} onJump={onJump} />}
    </div>
  );
}
