import type { AppRouter } from '@ts-rest/core';
import { z } from 'zod';
import { data } from './endpoint.ts';
import { Engine } from './generation.ts';
import { Family } from './models.ts';

/** What a worker says of a family of models: it has the provider's key, has none, or one that cannot work. */
export const FamilyState = z.strictObject({
  family: Family,
  state: z.enum(['live', 'sandbox', 'misconfigured']),
  reason: z.string().nullable().optional(),
});
export type FamilyState = z.infer<typeof FamilyState>;

/** What a worker may ask the server. Private: the bearer is the worker's token, and no public document shows it. */
export const workerApi = {
  hello: {
    method: 'POST',
    path: '/worker/hello',
    summary: 'Tell which families have keys and learn which engine runs',
    body: z.strictObject({ worker: z.string().min(1).max(255), families: z.array(FamilyState) }),
    responses: { 200: data(z.object({ engine: Engine })) },
  },
} as const satisfies AppRouter;
export type WorkerApi = typeof workerApi;
