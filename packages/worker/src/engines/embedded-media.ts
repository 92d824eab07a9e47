import type { Drain } from '../drain.ts';
import { type MediaContext, readMedia } from '../media-tasks/read-media.ts';
import { runClaimLoop } from './claim-loop.ts';
import type { EmbeddedOptions } from './embedded.ts';

/** Claims files whose media is to be read under a lease, up to `concurrency` at once, until `stop` aborts. */
export const runMedia = (
  context: MediaContext,
  { worker, concurrency }: EmbeddedOptions,
  stop: AbortSignal,
  drain: Drain,
): Promise<void> =>
  runClaimLoop({
    subject: 'media',
    concurrency,
    log: context.log,
    stop,
    drain,
    claim: async (body, options) =>
      (await context.server.claimMedia({ body: { worker, ...body } }, options)).data.files,
    work: (claimed) => readMedia(context, claimed, stop),
    fields: ({ fileId }) => ({ file: fileId }),
  });
