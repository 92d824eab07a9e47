import { type Contract, defaultSettings, MODELS } from '@review/contract';
import type { Deps } from '../../deps.ts';
import type { Handlers } from '../handler.ts';
import { abilitiesOfAll, withAbility } from '../workers/abilities.ts';
import { listLiving } from '../workers/queries.ts';

export const models = ({ db, clock, config }: Deps): Handlers<Contract['models']> => ({
  async list({ query: { outputType } }) {
    const living = await listLiving(db, clock);
    const live = new Set(withAbility(abilitiesOfAll(living, config.generation), 'live'));
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
