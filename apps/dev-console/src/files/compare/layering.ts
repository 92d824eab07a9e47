import type { CSSProperties } from 'react';

/** How one picture or video is laid over another. */
export const LAYERINGS = ['wipe', 'overlay', 'difference'] as const;
export type Layering = (typeof LAYERINGS)[number];

/** The styles of both layers. A wipe clips both, because the right one does not cover a left one of another ratio. */
export function stylesOf(mode: Layering, share: number): [left: CSSProperties, right: CSSProperties] {
  if (mode === 'wipe') return [{ clipPath: `inset(0 ${100 - share}% 0 0)` }, { clipPath: `inset(0 0 0 ${share}%)` }];
  return [{}, mode === 'overlay' ? { opacity: share / 100 } : { mixBlendMode: 'difference' }];
}
