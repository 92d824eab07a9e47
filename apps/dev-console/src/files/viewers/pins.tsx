import { useElementSize } from '@mantine/hooks';
import type { CommentPin } from '@review/contract';
import { memo, useMemo } from 'react';
import { anchorText } from '../../comments/anchor.ts';
import classes from './pins.module.css';

type Placed = CommentPin & { anchor: number };
const isPlaced = (pin: CommentPin): pin is Placed => pin.anchor !== null;

/** Pins closer than this share a mark. */
const MARK_PX = 14;
/** More ranges than this are a solid line. */
const MAX_RANGES = 200;

interface PinsProps {
  pins: readonly CommentPin[];
  durationMs: number;
  onJump: (at: number, id: string) => void;
}

/** Groups pins, sorted by time, that would overlap. */
function clustersOf(pins: readonly Placed[], span: number): [Placed, ...Placed[]][] {
  const clusters: [Placed, ...Placed[]][] = [];
  for (const pin of pins) {
    const last = clusters.at(-1);
    if (last !== undefined && pin.anchor - last[0].anchor < span) last.push(pin);
    else clusters.push([pin]);
  }
  return clusters;
}

function labelOf([first, ...others]: [Placed, ...Placed[]]): string {
  const { author, anchor, excerpt } = first;
  const last = others.at(-1);
  if (last === undefined)
    return `${author} at ${(anchor / 1000).toFixed(1)} s: ${excerpt ?? 'a drawing or an attachment'}`;
  return `${others.length + 1} comments from ${anchorText(anchor, 'time')} to ${anchorText(last.anchor, 'time')}`;
}

/** The comments on the timeline: a mark for each, or for several that are close, and lines for ranges. */
export const Pins = memo(function Pins({ pins, durationMs, onJump }: PinsProps) {
  const { ref, width } = useElementSize();
  const sorted = useMemo(() => pins.filter(isPlaced).sort((a, b) => a.anchor - b.anchor), [pins]);
  const clusters = useMemo(
    () => clustersOf(sorted, (durationMs * MARK_PX) / (width || 700)),
    [sorted, durationMs, width],
  );
  const share = (at: number) => `${100 * Math.min(1, at / durationMs)}%`;
  const ranges = sorted.filter(({ duration }) => (duration ?? 0) > 0).slice(0, MAX_RANGES);
  return (
    <div ref={ref} className={classes.pins}>
      {ranges.map(({ id, anchor, duration, resolved }) => (
        <span
          key={id}
          className={classes.range}
          data-resolved={resolved || undefined}
          style={{ left: share(anchor), width: share(Math.min(duration ?? 0, durationMs - anchor)) }}
        />
      ))}
      {clusters.map((cluster) => {
        const [{ id, anchor }, ...others] = cluster;
        const label = labelOf(cluster);
        return (
          <button
            key={id}
            type="button"
            className={classes.pin}
            style={{ left: share(anchor) }}
            data-resolved={cluster.every((pin) => pin.resolved) || undefined}
            data-many={others.length > 0 || undefined}
            title={label}
            aria-label={label}
            onClick={() => onJump(anchor, id)}
          >
            {others.length > 0 && (others.length < 99 ? others.length + 1 : '99+')}
          </button>
        );
      })}
    </div>
  );
});
