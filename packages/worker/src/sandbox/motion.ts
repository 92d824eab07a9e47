import type { Chance } from './chance.ts';
import type { Box } from './scene.ts';
import { copyBox, drawDisc, type Frame, toYuv, type YuvColour } from './yuv.ts';

/** Equal discs, evenly spaced on an ellipse. */
interface Orbit {
  x: number;
  y: number;
  reachX: number;
  reachY: number;
  discs: number;
  radius: number;
  direction: 1 | -1;
  colour: YuvColour;
}

export const orbitsOf = (chance: Chance, width: number, height: number): Orbit[] =>
  Array.from({ length: 3 }, () => {
    const short = Math.min(width, height);
    return {
      x: width * chance.between(0.3, 0.7),
      y: height * chance.between(0.25, 0.5),
      reachX: width * chance.between(0.12, 0.4),
      reachY: height * chance.between(0.1, 0.3),
      discs: chance.whole(5, 9),
      radius: short * chance.between(0.015, 0.045),
      direction: chance.pick([1, -1]),
      colour: toYuv(chance.whole(120, 255), chance.whole(120, 255), chance.whole(120, 255)),
    };
  });

/**
 * Draws one frame of the loop. Each disc moves to the position of the next one, so that the repeated loop looks like a
 * continuous rotation.
 */
export function drawFrame(still: Frame, frame: Frame, orbits: readonly Orbit[], label: Box, part: number): void {
  frame.bytes.set(still.bytes);
  for (const { x, y, reachX, reachY, discs, radius, direction, colour } of orbits) {
    for (let disc = 0; disc < discs; disc += 1) {
      const angle = (2 * Math.PI * (disc + direction * part)) / discs;
      drawDisc(frame, x + reachX * Math.cos(angle), y + reachY * Math.sin(angle), radius, colour);
    }
  }
  copyBox(still, frame, label);
}
