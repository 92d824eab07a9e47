import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countedRate, dropsFrames, type ExactRate, frameAt, timecode, timeOfFrame } from './timecode.ts';

const NTSC = (rate: number): ExactRate => ({ numerator: rate * 1000, denominator: 1001 });
const whole = (rate: number): ExactRate => ({ numerator: rate, denominator: 1 });
const RATES = [
  NTSC(24),
  whole(24),
  whole(25),
  NTSC(30),
  whole(30),
  whole(48),
  whole(50),
  NTSC(60),
  whole(60),
  whole(120),
];
const rates = fc.constantFrom(...RATES);
const DAY_MS = 24 * 3600 * 1000;
const times = fc.integer({ min: 0, max: DAY_MS - 1 });

/** The parts of a timecode as numbers. */
const parts = (code: string) => code.split(/[:;]/).map(Number);

describe('timecode', () => {
  it.each([
    [NTSC(30), 0, '00:00:00;00'],
    [NTSC(30), 1799, '00:00:59;29'],
    [NTSC(30), 1800, '00:01:00;02'],
    [NTSC(30), 17_981, '00:09:59;29'],
    [NTSC(30), 17_982, '00:10:00;00'],
    [NTSC(30), 19_782, '00:11:00;02'],
    [NTSC(30), 107_892, '01:00:00;00'],
    [NTSC(60), 3599, '00:00:59;59'],
    [NTSC(60), 3600, '00:01:00;04'],
    [NTSC(60), 215_784, '01:00:00;00'],
    [NTSC(24), 86_400, '01:00:00:00'],
    [whole(25), 37, '00:00:01:12'],
    [whole(30), 1800, '00:01:00:00'],
    [whole(60), 59, '00:00:00:59'],
    [whole(120), 119, '00:00:00:119'],
    [{ numerator: 60_000, denominator: 2002 }, 1800, '00:01:00;02'],
  ])('of %o, frame %i is %s', (rate, frame, code) => {
    expect(timecode(frame, rate)).toBe(code);
  });

  it('has one number per frame: the frame can be computed from it', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 10_000_000 }), (rate, frame) => {
        const [hours = 0, minutes = 0, seconds = 0, frames = 0] = parts(timecode(frame, rate));
        const elapsed = hours * 60 + minutes;
        const dropped = dropsFrames(rate) ? (countedRate(rate) / 15) * (elapsed - Math.floor(elapsed / 10)) : 0;
        expect((elapsed * 60 + seconds) * countedRate(rate) + frames - dropped).toBe(frame);
      }),
    );
  });

  it('never shows a dropped number', () => {
    // Numbers are dropped where a minute begins.
    const minutes = fc.integer({ min: 0, max: 24 * 60 });
    fc.assert(
      fc.property(
        fc.constantFrom(NTSC(30), NTSC(60)),
        minutes,
        fc.integer({ min: 0, max: 12 }),
        (rate, minute, more) => {
          const frame = frameAt(minute * 60_000, rate) + more;
          const [, shown = 0, seconds = 0, frames = 0] = parts(timecode(frame, rate));
          const isDropped = shown % 10 !== 0 && seconds === 0 && frames < countedRate(rate) / 15;
          expect(isDropped).toBe(false);
        },
      ),
    );
  });

  it('keeps up with the clock with drop frame, within a day', () => {
    fc.assert(
      fc.property(fc.constantFrom(NTSC(30), NTSC(60)), times, (rate, time) => {
        const [hours = 0, minutes = 0, seconds = 0, frames = 0] = parts(timecode(frameAt(time, rate), rate));
        const shown = hours * 3600 + minutes * 60 + seconds + frames / countedRate(rate);
        expect(Math.abs(shown - time / 1000)).toBeLessThan(0.16);
      }),
    );
  });
});

describe('the frame at a time', () => {
  it('is the one whose rounded start is given', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 10_000_000 }), (rate, frame) => {
        expect(frameAt(Math.round(timeOfFrame(frame, rate)), rate)).toBe(frame);
      }),
    );
  });

  it('begins at most half a millisecond later, and ends after it', () => {
    fc.assert(
      fc.property(rates, times, (rate, time) => {
        const frame = frameAt(time, rate);
        expect(timeOfFrame(frame, rate)).toBeLessThanOrEqual(time + 0.51);
        expect(timeOfFrame(frame + 1, rate)).toBeGreaterThan(time);
      }),
    );
  });
});
