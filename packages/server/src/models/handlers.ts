import { type Contract, defaultSettings, MODELS } from '@review/contract';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { findLiveFamilies } from './queries.ts';

export const models = ({ db }: Deps): Handlers<Contract['models']> => ({
  async list({ query: { outputType } }) {
    const live = await findLiveFamilies(db);
    const asked = MODELS.filter((model) => outputType === undefined || model.outputType === outputType);
    return {
      data: asked.map(({ id, name, outputType, family, caps, video }) => ({
        id,
        name,
        outputType,
        family,
        available: live.has(family),
        provider: live.has(family) ? 'live' : 'sandbox',
        caps,
        configs: video && {
          generateAudio: { supported: video.audio },
          resolution: { values: [...video.resolutions] },
          durationSeconds: video.seconds,
          aspectRatio: { values: [...video.ratios] },
        },
        defaults: video && defaultSettings(video),
      })),
    };
  },
});
