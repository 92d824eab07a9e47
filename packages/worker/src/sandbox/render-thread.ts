import { parentPort } from 'node:worker_threads';
import { type Maker, type Medium, mediumOf } from './request.ts';
import type { ThreadJob, ThreadNews } from './thread-messages.ts';

/** Loaded when first asked for: the libraries of all media together take a second and much memory. */
const MAKERS: Record<Medium, () => Promise<Maker>> = {
  pdf: async () => (await import('./document.ts')).makePdf,
  markdown: async () => (await import('./document.ts')).makeMarkdown,
  IMAGE: async () => (await import('./image.ts')).makeImage,
  VIDEO: async () => (await import('./video.ts')).makeVideo,
  '3D': async () => (await import('./shape.ts')).makeShape,
};

const tell = (news: ThreadNews) => parentPort?.postMessage(news);

parentPort?.on('message', async ({ request, path, stop }: ThreadJob) => {
  const given = new Int32Array(stop);
  try {
    const make = await MAKERS[mediumOf(request)]();
    await make(request, path, {
      progress: (fraction) => tell({ progress: fraction }),
      checkpoint: () => {
        if (Atomics.load(given, 0) !== 0) throw new Error('The rendering was given up.');
      },
    });
    tell({ done: true });
  } catch (error) {
    tell({ failed: error });
  }
});
