import { z } from 'zod';
import { list } from './collections.ts';
import { bytesOf } from './opaque-json.ts';
import { text } from './text.ts';

export const MAX_SHAPES = 200;
/** Of all pen strokes of a drawing together. */
export const MAX_POINTS = 5000;
const MAX_BYTES = 200 * 1024;
/** The height of the letters of a text, in widths of its stroke. */
export const LETTER_HEIGHT = 8;

const SHAPES = ['PEN', 'ARROW', 'LINE', 'RECTANGLE', 'ELLIPSE', 'TEXT', 'PIN'];

/** 0 is the left or upper edge of the shown frame, 1 the right or lower one. */
const Share = z.number().min(0).max(1);
const Point = list(Share, { min: 2, max: 2 });
const UNIT = { minimum: 0, maximum: 1 };
const Extent = z.number().min(-1e6).max(1e6);

const drawn = {
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/)
    .max(7)
    .describe('As `#rrggbb`.'),
  strokeWidth: z
    .number()
    .min(0.0005)
    .max(0.1)
    .describe(
      `A share of the shorter side of the shown frame. The letters of a text are ${LETTER_HEIGHT} times as high.`,
    ),
};
const box = { x: Share, y: Share, width: Share, height: Share };

export const Shape = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('PEN'),
      points: list(list(Share, { min: 2, max: 3 }), { min: 1, max: MAX_POINTS }).describe(
        'Each `[x, y]` or `[x, y, pressure]`, from 0 to 1.',
      ),
      ...drawn,
    }),
    z.strictObject({ type: z.literal('ARROW'), from: Point, to: Point, ...drawn }),
    z.strictObject({ type: z.literal('LINE'), from: Point, to: Point, ...drawn }),
    z.strictObject({ type: z.literal('RECTANGLE'), ...box, ...drawn }),
    z.strictObject({ type: z.literal('ELLIPSE'), ...box, ...drawn }),
    z.strictObject({ type: z.literal('TEXT'), x: Share, y: Share, text: text({ min: 1, max: 200 }), ...drawn }),
    z
      .strictObject({
        type: z.literal('PIN'),
        x: Extent,
        y: Extent,
        z: Extent.optional().describe('Given for a 3D file: then `x`, `y` and `z` are in the space of the model.'),
        ...drawn,
      })
      .check(({ value, issues }) => {
        if (value.z !== undefined) return;
        for (const axis of ['x', 'y'] as const) {
          const message = 'Must be from 0 to 1 without a z.';
          if (!Share.safeParse(value[axis]).success)
            issues.push({ code: 'custom', params: { code: 'OUT_OF_FRAME' }, message, path: [axis], input: value });
        }
      })
      .meta({ not: { allOf: [{ not: { required: ['z'] } }, { not: { properties: { x: UNIT, y: UNIT } } }] } }),
  ],
  { error: `Must be one of ${SHAPES.join(', ')}.` },
);
export type Shape = z.infer<typeof Shape>;

const Drawing = z
  .strictObject({
    version: z.literal(1).describe('The version of this shape.'),
    shapes: list(Shape, { min: 1, max: MAX_SHAPES }).describe('In the order in which they are drawn.'),
  })
  .check(({ value, issues }) => {
    const points = value.shapes.reduce((sum, shape) => sum + (shape.type === 'PEN' ? shape.points.length : 0), 0);
    if (points <= MAX_POINTS) return;
    const message = `At most ${MAX_POINTS} points in all pen strokes together.`;
    issues.push({ code: 'custom', params: { code: 'TOO_MANY_POINTS' }, message, path: ['shapes'], input: value });
  });

/** A drawing on the shown frame. Coordinates are shares of the frame, so that it fits every rendition of the file. */
export const Annotation = z
  .preprocess((value: z.input<typeof Drawing>, context) => {
    if (bytesOf(value) > MAX_BYTES) {
      const message = `At most ${MAX_BYTES} bytes of JSON.`;
      context.issues.push({ code: 'custom', params: { code: 'TOO_LARGE' }, message, input: value });
    }
    return value;
  }, Drawing)
  .meta({ id: 'Annotation' });
export type Annotation = z.infer<typeof Annotation>;
