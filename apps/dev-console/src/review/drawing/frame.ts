/** The coordinates that shapes are drawn in: the shorter side of the shown frame is 1,000 units long. */
export interface Frame {
  width: number;
  height: number;
}

const SHORTER_SIDE = 1000;

export const frameOf = (ratio: number): Frame =>
  ratio >= 1
    ? { width: SHORTER_SIDE * ratio, height: SHORTER_SIDE }
    : { width: SHORTER_SIDE, height: SHORTER_SIDE / ratio };

/** The length of a share of the shorter side. */
export const lengthOf = (share: number): number => share * SHORTER_SIDE;

const within = (share: number) => Math.min(1, Math.max(0, share));
const rounded = (share: number) => Math.round(share * 1e5) / 1e5;

/** The place of a pointer on an element, as shares of its sides. */
export function placeOf(
  element: Element,
  { clientX, clientY }: { clientX: number; clientY: number },
): [number, number] {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [rounded(within((clientX - left) / width)), rounded(within((clientY - top) / height))];
}
