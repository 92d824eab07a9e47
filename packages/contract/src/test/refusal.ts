import type { z } from 'zod';
import { type FieldError, fieldErrors } from '../problem.ts';

/** Returns the field errors of an input as `pointer code`; empty if the schema accepts it. */
export function refusal(schema: z.ZodType, input: unknown): string[] {
  return refusedFields(schema, input).map(({ pointer, code }) => `${pointer} ${code}`);
}

export function refusedFields(schema: z.ZodType, input: unknown): FieldError[] {
  const result = schema.safeParse(input);
  return result.success ? [] : [...fieldErrors(result.error.issues, input)];
}

export const ids = {
  uuid: '0b9f6a3e-7c1d-4e2f-8a5b-1c2d3e4f5a6b',
  file: 'FX7K3M9Q2W5R8T1V4Y6Z0B',
  otherFile: 'FX00000000000000000000',
  folder: 'DX7K3M9Q2W5R8T1V4Y6Z0B',
  generationAttachment: 'GA7K3M9Q2W5R8T1V4Y6Z0B',
  commentAttachment: (n = 0) => `CA${String(n).padStart(20, '0')}`,
  skillVersion: 'SV7K3M9Q2W5R8T1V4Y6Z0B',
};

/** Returns `count` characters of two UTF-16 units each. */
export const astral = (count: number) => '🎬'.repeat(count);
