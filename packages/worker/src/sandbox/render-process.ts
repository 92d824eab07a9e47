import type { ProcessJob, ProcessNews } from './process-messages.ts';
import { type Maker, type Medium, mediumOf } from './request.ts';

/** Loaded on demand: the libraries of all media take a second and much memory. */
const MAKERS: Record<Medium, () => Promise<Maker>> = {
  pdf: async () => (await import('./document.ts')).makePdf,
  markdown: async () => (await import('./document.ts')).makeMarkdown,
  IMAGE: async () => (await import('./image.ts')).makeImage,
  VIDEO: async () => (await import('./video.ts')).makeVideo,
  '3D': async () => (await import('./shape.ts')).makeShape,
};

const tell = (news: ProcessNews) => process.send?.(news);

process.on('message', async ({ request, path }: ProcessJob) => {
  try {
    const make = await MAKERS[mediumOf(request)]();
    await make(request, path, { progress: (fraction) => tell({ progress: fraction }) });
    tell({ memory: process.memoryUsage.rss() });
  } catch (error) {
    tell({ memory: process.memoryUsage.rss(), failed: error });
  }
});

// The terminal sends SIGINT to every process of the group; the worker decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit());
