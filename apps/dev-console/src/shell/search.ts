import type { z } from 'zod';

/** A part of an address that may be left out; what does not fit counts as left out. */
export const optional = <Shape extends z.ZodType>(shape: Shape) => shape.optional().catch(undefined);
