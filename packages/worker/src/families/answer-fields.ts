import { z } from 'zod';

/**
 * Fields of a provider's answer, read leniently: a field that is missing, null or of another type than documented
 * counts as absent. An answer about a paid job must not be lost because of a field that nobody needs.
 */

/** A text that says something; numbers count as text, because codes and ids come as either. */
export const text = z
  .union([z.string(), z.int()])
  .transform((value) => String(value).trim() || undefined)
  .optional()
  .catch(undefined);

/** The status of a job, or another word that decides something: never a number. */
export const word = z
  .string()
  .transform((value) => value.trim() || undefined)
  .optional()
  .catch(undefined);

export const number = z.number().optional().catch(undefined);

export const flag = z.boolean().optional().catch(undefined);

export const fields = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).optional().catch(undefined);

/** A list without the entries that are not objects. */
export const entries = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .array(fields(shape))
    .catch([])
    .transform((all) => all.filter((entry) => entry !== undefined));

/** An address that can be called. */
export const address = z
  .url({ protocol: /^https?$/ })
  .optional()
  .catch(undefined);

/** The id of a new job: without it, nobody knows what was ordered. */
export const id = z
  .union([z.string(), z.int()])
  .transform(String)
  .refine((value) => value !== '');

/** Why a job failed, or a call, as most providers tell it. */
export const error = fields({ code: text, message: text });
