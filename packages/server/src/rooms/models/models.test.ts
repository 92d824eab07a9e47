import { createWorkerClient } from '@review/client/worker';
import { expect, test } from 'vitest';
import { testAccess } from '../../test/access.ts';
import { onEachDatabase } from '../../test/house.ts';

/** The tables of the API reference: output types with their models in order, and the settings of video models. */
const MODELS = `
DOCUMENT | pdf markdown
IMAGE    | gpt-image-2.5-flare gpt-image-2 gemini-3-pro-image gemini-3.1-flash-image gemini-3.1-flash-lite-image
VIDEO    | seedance-2.5 seedance-2.0 seedance-2.0-fast seedance-2.0-mini kling-3.0-omni kling-3.0 kling-3.0-turbo minimax-h3-max minimax-h3 veo-3.1-generate-preview veo-3.1-lite-generate-preview
3D       | meshy-7 hunyuan3d-3.1`;

const VIDEO = `
seedance-2.5                  | 480p, 720p, 1080p     | 4-30 | 21:9, 16:9, 4:3, 1:1, 3:4, 9:16 | yes
seedance-2.0                  | 480p, 720p, 1080p, 4k | 4-15 | 21:9, 16:9, 4:3, 1:1, 3:4, 9:16 | yes
seedance-2.0-fast             | 480p, 720p            | 4-15 | 21:9, 16:9, 4:3, 1:1, 3:4, 9:16 | yes
seedance-2.0-mini             | 480p, 720p            | 4-15 | 21:9, 16:9, 4:3, 1:1, 3:4, 9:16 | yes
kling-3.0-omni                | 720p, 1080p           | 3-15 | 16:9, 9:16, 1:1                 | yes
kling-3.0                     | 720p, 1080p           | 3-15 | 16:9, 9:16, 1:1                 | yes
kling-3.0-turbo               | 720p, 1080p           | 3-15 | 16:9, 9:16, 1:1                 | yes
minimax-h3-max                | 480p, 768p, 1080p     | 5-15 | 21:9, 16:9, 4:3, 1:1, 3:4, 9:16 | no
minimax-h3                    | 768p, 2k              | 5-15 | 21:9, 16:9, 4:3, 1:1, 3:4, 9:16 | no
veo-3.1-generate-preview      | 720p, 1080p, 4k       | 8    | 16:9, 9:16                      | yes
veo-3.1-lite-generate-preview | 720p, 1080p           | 8    | 16:9, 9:16                      | yes`;

/** 720p or the model's nearest, 5 s or the model's minimum above it, 16:9. */
const DEFAULTS: Record<string, [resolution: string, seconds: number]> = {
  'minimax-h3-max': ['768p', 5],
  'minimax-h3': ['768p', 5],
  'veo-3.1-generate-preview': ['720p', 8],
  'veo-3.1-lite-generate-preview': ['720p', 8],
};

const lines = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

const TYPES = lines(MODELS).map(([outputType = '', ids = '']) => ({ outputType, ids: ids.split(' ') }));

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  GET /api/models | ai:generate | - | D | list_models | 200`;

onEachDatabase((house) => {
  const list = async () => (await house().people.owner.client.models.list()).data;
  const tell = (family: 'seedance' | 'kling' | 'veo' | 'meshy', state: 'live' | 'sandbox' | 'misconfigured') =>
    createWorkerClient({ baseUrl: house().url, token: house().deps.config.workerToken }).register({
      body: { worker: `only ${family}`, families: [{ family, state }] },
    });

  test('every model of the reference is listed, in its order', async () => {
    const expected = TYPES.flatMap(({ outputType, ids }) => ids.map((id) => [outputType, id]));
    expect(expected).toHaveLength(20);
    expect((await list()).map(({ outputType, id }) => [outputType, id])).toEqual(expected);
  });

  test('a model record has exactly these fields', async () => {
    for (const model of await list()) {
      expect(Object.keys(model).sort()).toEqual(
        ['id', 'name', 'outputType', 'family', 'available', 'provider', 'caps', 'configs', 'defaults'].sort(),
      );
      expect(model.name).not.toBe('');
    }
  });

  test('each video model has exactly the limits and defaults of the API reference; other models have none', async () => {
    const limits = new Map(
      lines(VIDEO).map(([id = '', resolutions = '', seconds = '', ratios = '', audio]) => {
        const [min, max = min] = seconds.split('-').map(Number);
        const [resolution, durationSeconds] = DEFAULTS[id] ?? ['720p', 5];
        return [
          id,
          {
            configs: {
              generateAudio: { supported: audio === 'yes' },
              resolution: { values: resolutions.split(', ') },
              durationSeconds: { min, max },
              aspectRatio: { values: ratios.split(', ') },
            },
            defaults: { generateAudio: audio === 'yes', resolution, durationSeconds, aspectRatio: '16:9' },
          },
        ];
      }),
    );
    expect(limits.size).toBe(11);
    for (const { id, configs, defaults } of await list()) {
      expect({ id, configs, defaults }).toEqual({ id, ...(limits.get(id) ?? { configs: null, defaults: null }) });
    }
  });

  test('the caps are the limits of the provider that are below those of the API', async () => {
    const caps = Object.fromEntries((await list()).map((model) => [model.id, model.caps]));
    expect(caps['pdf']).toEqual({ promptCharacters: null, attachments: null });
    expect(caps['seedance-2.5']).toEqual({ promptCharacters: null, attachments: null });
    expect(caps['kling-3.0-turbo']).toEqual({ promptCharacters: 3072, attachments: 1 });
    expect(caps['veo-3.1-generate-preview']).toEqual({ promptCharacters: null, attachments: 3 });
    expect(caps['meshy-7']).toEqual({ promptCharacters: 800, attachments: 4 });
    expect(caps['hunyuan3d-3.1']).toEqual({ promptCharacters: 1024, attachments: 1 });
  });

  test.each(TYPES)('outputType $outputType lists those models only', async ({ outputType, ids }) => {
    const response = await house().request('owner', 'GET', `/api/models?outputType=${outputType}`);
    expect(response.status).toBe(200);
    const { data } = (await response.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(ids);
  });

  test.each([
    ['outputType=AUDIO', '#query/outputType'],
    ['outputType=image', '#query/outputType'],
    ['outputType=', '#query/outputType'],
    ['outputType=IMAGE&outputType=VIDEO', '#query/outputType'],
    ['type=IMAGE', '#query/type'],
  ])('the filter %s is 400 with its pointer', async (query, pointer) => {
    const response = await house().request('owner', 'GET', `/api/models?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
  });

  test('a family is available while a worker reports it as live, and uses the sandbox before and after', async () => {
    const family = async () => {
      const states = (await list()).filter((model) => model.family === 'kling');
      expect(states).toHaveLength(3);
      return new Set(states.map(({ available, provider }) => `${available} ${provider}`));
    };
    expect(await family()).toEqual(new Set(['false sandbox']));
    await tell('kling', 'live');
    expect(await family()).toEqual(new Set(['true live']));
    await tell('kling', 'misconfigured');
    expect(await family()).toEqual(new Set(['false sandbox']));
    await tell('kling', 'live');
    await tell('kling', 'sandbox');
    expect(await family()).toEqual(new Set(['false sandbox']));
  });

  test('a report on one family does not change the others', async () => {
    await tell('veo', 'live');
    await tell('meshy', 'sandbox');
    const state = Object.fromEntries((await list()).map(({ id, available, provider }) => [id, [available, provider]]));
    expect(state['veo-3.1-generate-preview']).toEqual([true, 'live']);
    expect(state['meshy-7']).toEqual([false, 'sandbox']);
    expect(state['pdf']).toEqual([false, 'sandbox']);
  });

  testAccess(house, 'models', ACCESS);
});
