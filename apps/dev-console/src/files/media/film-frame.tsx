import classes from './media.module.css';
import type { FilmstripRendition } from './renditions.ts';

/** The picture of a filmstrip that is closest before a time in milliseconds. */
export function FilmFrame({ strip, at }: { strip: FilmstripRendition; at: number }) {
  const { columns, rows, intervalMs } = strip.filmstrip;
  const index = Math.min(Math.floor(at / intervalMs), columns * rows - 1);
  const along = (position: number, count: number) => (count === 1 ? '0%' : `${(100 * position) / (count - 1)}%`);
  return (
    <span
      className={classes.filmFrame}
      data-frame={index}
      style={{
        aspectRatio: `${(strip.width ?? 16) / columns} / ${(strip.height ?? 9) / rows}`,
        backgroundImage: `url("${strip.url}")`,
        backgroundSize: `${columns * 100}% ${rows * 100}%`,
        backgroundPosition: `${along(index % columns, columns)} ${along(Math.floor(index / columns), rows)}`,
      }}
    />
  );
}
