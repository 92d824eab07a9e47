import type { z } from 'zod';

/** An optional search parameter; an invalid value counts as absent. */
export const optional = <Shape extends z.ZodType>(shape: Shape) => shape.optional().catch(undefined);
