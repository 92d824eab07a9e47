import type { Annotation, Shape } from '@review/contract';

const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isPoint = (value: unknown): boolean => Array.isArray(value) && value.length >= 2 && value.every(isNumber);
const FIELDS: Record<Shape['type'], (shape: Record<string, unknown>) => boolean> = {
  PEN: ({ points }) => Array.isArray(points) && points.length > 0 && points.every(isPoint),
  ARROW: ({ from, to }) => isPoint(from) && isPoint(to),
  LINE: ({ from, to }) => isPoint(from) && isPoint(to),
  RECTANGLE: ({ x, y, width, height }) => [x, y, width, height].every(isNumber),
  ELLIPSE: ({ x, y, width, height }) => [x, y, width, height].every(isNumber),
  TEXT: ({ x, y, text }) => isNumber(x) && isNumber(y) && typeof text === 'string',
  PIN: ({ x, y, z }) => isNumber(x) && isNumber(y) && (z === undefined || isNumber(z)),
};
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isShape = (value: unknown): value is Shape => {
  if (!isRecord(value) || typeof value['color'] !== 'string' || !isNumber(value['strokeWidth'])) return false;
  const entry = Object.entries(FIELDS).find(([type]) => type === value['type']);
  return entry?.[1](value) === true;
};
const isAnnotation = (value: unknown): value is Annotation =>
  isRecord(value) && value['version'] === 1 && Array.isArray(value['shapes']) && value['shapes'].every(isShape);

/** The shapes of a drawing; none for what was stored before drawings had a version. Without zod, which is 15 kB. */
export const shapesOf = (annotation: unknown): readonly Shape[] => (isAnnotation(annotation) ? annotation.shapes : []);
