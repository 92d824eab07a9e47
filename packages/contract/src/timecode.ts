/** Frames per second as an exact fraction: 30000/1001 is 29.97. */
export interface ExactRate {
  numerator: number;
  denominator: number;
}

/** The frames that one second of timecode counts: 30 for 29.97. */
export const countedRate = ({ numerator, denominator }: ExactRate): number => Math.round(numerator / denominator) || 1;

/** Whether timecode drops numbers to keep up with the clock, as is usual for 29.97 and 59.94. */
export const dropsFrames = ({ numerator, denominator }: ExactRate): boolean =>
  [30, 60].some((rate) => numerator * 1001 === denominator * rate * 1000);

/**
 * The frame that is shown at a time, from 0. Times are whole milliseconds, and frames rarely begin at one: half a millisecond
 * more finds the frame whose rounded start is given.
 */
export const frameAt = (milliseconds: number, { numerator, denominator }: ExactRate): number =>
  Math.floor(((milliseconds + 0.5) * numerator) / (1000 * denominator) + 1e-6);

/** The time at which a frame begins, in milliseconds. */
export const timeOfFrame = (frame: number, { numerator, denominator }: ExactRate): number =>
  (frame * 1000 * denominator) / numerator;

const two = (count: number) => String(count).padStart(2, '0');

/** The timecode of a frame by SMPTE 12M: `01:00:00:00`, and `01:00:00;00` with drop frame. */
export function timecode(frame: number, rate: ExactRate): string {
  const perSecond = countedRate(rate);
  const drops = dropsFrames(rate);
  const number = drops ? frame + droppedBefore(frame, perSecond) : frame;
  const seconds = Math.floor(number / perSecond);
  const digits = Math.max(2, String(perSecond - 1).length);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  return `${clock}${drops ? ';' : ':'}${String(number % perSecond).padStart(digits, '0')}`;
}

/** Each minute skips its first two numbers (four at 59.94), except every tenth minute. */
function droppedBefore(frame: number, perSecond: number): number {
  const perMinute = perSecond / 15;
  const framesOfMinute = perSecond * 60 - perMinute;
  const framesOfTen = framesOfMinute * 10 + perMinute;
  const rest = frame % framesOfTen;
  const minutes = rest < perSecond * 60 ? 0 : 1 + Math.floor((rest - perSecond * 60) / framesOfMinute);
  return perMinute * (9 * Math.floor(frame / framesOfTen) + minutes);
}
