import { z } from 'zod';

export const GENERATION_ERROR_CODES = [
  'MODERATED',
  'PROVIDER_REJECTED',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_TIMEOUT',
  'PROVIDER_AUTH',
  'PROVIDER_QUOTA',
  'ATTACHMENT_UNREADABLE',
  'SUBMIT_OUTCOME_UNKNOWN',
  'CONFIG_INVALID',
  'RESULT_EXPIRED',
  'STORAGE_FULL',
  'INTERNAL',
] as const;
export const GenerationErrorCode = z.enum(GENERATION_ERROR_CODES);
export type GenerationErrorCode = z.infer<typeof GenerationErrorCode>;

export const GenerationError = z.object({ code: GenerationErrorCode, message: z.string(), retryable: z.boolean() });
export type GenerationError = z.infer<typeof GenerationError>;
