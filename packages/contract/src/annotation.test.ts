import { describe, expect, it } from 'vitest';
import { contract } from './index.ts';
import { refusal } from './test/refusal.ts';

const ink = { color: '#e03131', strokeWidth: 0.004 };
const box = { x: 0.25, y: 0, width: 0.5, height: 1 };
const pen = {
  type: 'PEN',
  points: [
    [0, 0.5],
    [1, 1, 0.7],
  ],
  ...ink,
};
const text = { type: 'TEXT', x: 0, y: 0.9, text: 'Softer', ...ink };
const pin = { type: 'PIN', x: 0.5, y: 0.5, ...ink };

const refused = (annotation: unknown) => refusal(contract.comments.createOnFile.body, { annotation });
const drawn = (...shapes: unknown[]) => refused({ version: 1, shapes });
const stroke = (points: number) => ({ ...pen, points: Array.from({ length: points }, () => [0.5, 0.5]) });

describe('a drawing', () => {
  it.each([
    ['a pen stroke with and without pressure', pen],
    ['a dot', { ...pen, points: [[0.5, 0.5, 0]] }],
    ['an arrow', { type: 'ARROW', from: [0, 0], to: [1, 1], ...ink }],
    ['a line', { type: 'LINE', from: [0, 0], to: [1, 1], ...ink }],
    ['a rectangle', { type: 'RECTANGLE', ...box, ...ink }],
    ['an ellipse', { type: 'ELLIPSE', ...box, ...ink }],
    ['a text', text],
    ['a pin on the frame', pin],
    ['a pin on a model', { ...pin, x: -12.5, y: 300, z: 0 }],
  ])('may be %s', (_, shape) => {
    expect(drawn(shape)).toEqual([]);
  });

  it.each([
    ['an unknown type', { ...pen, type: 'STAR' }, '/type INVALID'],
    ['no type', ink, '/type INVALID'],
    ['no points', { ...pen, points: [] }, '/points TOO_FEW'],
    ['half a point', { ...pen, points: [[0.5]] }, '/points/0 TOO_FEW'],
    ['a point with a fourth number', { ...pen, points: [[0, 0, 0, 0]] }, '/points/0 TOO_MANY'],
    ['a point beyond the frame', { ...pen, points: [[0, 1.01]] }, '/points/0/1 TOO_LARGE'],
    ['an end before the frame', { type: 'LINE', from: [0, 0], to: [0, -0.1], ...ink }, '/to/1 TOO_SMALL'],
    ['a box without a height', { type: 'ELLIPSE', ...box, height: undefined, ...ink }, '/height REQUIRED'],
    ['a text of nothing', { ...text, text: '' }, '/text TOO_SHORT'],
    ['a long text', { ...text, text: 'a'.repeat(201) }, '/text TOO_LONG'],
    ['a name as the colour', { ...pen, color: 'red' }, '/color INVALID_FORMAT'],
    ['no width', { ...pen, strokeWidth: 0 }, '/strokeWidth TOO_SMALL'],
    ['a width in pixels', { ...pen, strokeWidth: 4 }, '/strokeWidth TOO_LARGE'],
    ['a pin beyond the frame', { ...pin, x: 2 }, '/x OUT_OF_FRAME'],
    ['an unknown field', { ...text, size: 3 }, '/size UNKNOWN_FIELD'],
  ])('cannot have a shape with %s', (_, shape, error) => {
    expect(drawn(shape)).toEqual([`/annotation/shapes/0${error}`]);
  });

  it.each([
    ['another version', { version: 2, shapes: [pen] }, '/version INVALID_VALUE'],
    ['no shapes', { version: 1, shapes: [] }, '/shapes TOO_FEW'],
    ['an unknown field', { version: 1, shapes: [pen], by: 'me' }, '/by UNKNOWN_FIELD'],
    ['the form of a text', 'a drawing', ' INVALID_TYPE'],
  ])('cannot have %s', (_, annotation, error) => {
    expect(refused(annotation)).toEqual([`/annotation${error}`]);
  });

  it('has at most 200 shapes, 5,000 points and 200 kB', () => {
    expect(drawn(...Array.from({ length: 200 }, () => pin))).toEqual([]);
    expect(drawn(...Array.from({ length: 201 }, () => pin))).toEqual(['/annotation/shapes TOO_MANY']);
    expect(drawn(stroke(2500), stroke(2500))).toEqual([]);
    expect(drawn(stroke(2500), stroke(2501))).toEqual(['/annotation/shapes TOO_MANY_POINTS']);
    expect(drawn(stroke(5001))).toEqual(['/annotation/shapes/0/points TOO_MANY']);
    const exact = Array.from({ length: 4900 }, () => [1 / 3, 2 / 3, 0.123456789]);
    expect(drawn({ ...pen, points: exact })).toEqual(['/annotation TOO_LARGE']);
    expect(drawn({ ...text, text: 'é'.repeat(110_000) })).toEqual(['/annotation TOO_LARGE']);
  });
});
