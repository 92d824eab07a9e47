/** How one image is laid over another. */
export const LAYERINGS = ['wipe', 'overlay', 'difference'] as const;
export type Layering = (typeof LAYERINGS)[number];
