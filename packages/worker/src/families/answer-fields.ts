import { z } from 'zod';

/**
 * Fields of a provider's answer, read leniently: a field that is missing, null or of another type than documented
 * counts as absent. An answer about a paid job must not fail because of an unused field.
 */

/** A non-empty text. Integers are converted, because codes and ids come as either. */
export const text = z
  .union([z.string(), z.int()])
  .transform((value) => String(value).trim() || undefined)
  .optional()
  .catch(undefined);

/** A non-empty string, such as a job status; numbers count as absent. */
export const word = z
  .string()
  .transform((value) => value.trim() || undefined)
  .optional()
  .catch(undefined);

export const number = z.number().optional().catch(undefined);

export const flag = z.boolean().optional().catch(undefined);

export const fields = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).optional().catch(undefined);

/** A list of objects; other entries are dropped. */
export const entries = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .array(fields(shape))
    .catch([])
    .transform((all) => all.filter((entry) => entry !== undefined));

/** An HTTP or HTTPS URL. */
export const address = z
  .url({ protocol: /^https?$/ })
  .optional()
  .catch(undefined);

/** The required id of a new job. */
export const id = z
  .union([z.string(), z.int()])
  .transform(String)
  .refine((value) => value !== '');

/** The error object that most providers use for jobs and calls. */
export const error = fields({ code: text, message: text });
