import { expect, test } from 'vitest';
import { json, onEachDatabase } from '../../test/house.ts';
import { problemIn } from '../../test/problem-in.ts';
import { FILM, generatePath, PAGE, PICTURE, post } from './test/generations.ts';

const WIDE = '21:9, 16:9, 4:3, 1:1, 3:4, 9:16';
/** The table of advanced settings of the API reference. */
const LIMITS = `
seedance-2.5                  | 480p, 720p, 1080p     | 4-30 | ${WIDE}          | yes
seedance-2.0                  | 480p, 720p, 1080p, 4k | 4-15 | ${WIDE}          | yes
seedance-2.0-fast             | 480p, 720p            | 4-15 | ${WIDE}          | yes
seedance-2.0-mini             | 480p, 720p            | 4-15 | ${WIDE}          | yes
kling-3.0-omni                | 720p, 1080p           | 3-15 | 16:9, 9:16, 1:1  | yes
kling-3.0                     | 720p, 1080p           | 3-15 | 16:9, 9:16, 1:1  | yes
kling-3.0-turbo               | 720p, 1080p           | 3-15 | 16:9, 9:16, 1:1  | yes
minimax-h3-max                | 480p, 768p, 1080p     | 5-15 | ${WIDE}          | no
minimax-h3                    | 768p, 2k              | 5-15 | ${WIDE}          | no
veo-3.1-generate-preview      | 720p, 1080p, 4k       | 8-8  | 16:9, 9:16       | yes
veo-3.1-lite-generate-preview | 720p, 1080p           | 8-8  | 16:9, 9:16       | yes`
  .trim()
  .split('\n')
  .map((line) => {
    const [model = '', resolutions = '', seconds = '', ratios = '', audio] = line.split('|').map((cell) => cell.trim());
    const [min = 0, max = 0] = seconds.split('-').map(Number);
    return {
      model,
      resolutions: resolutions.split(', '),
      min,
      max,
      ratios: ratios.split(', '),
      audio: audio === 'yes',
    };
  });
const RESOLUTIONS = ['480p', '720p', '768p', '1080p', '2k', '4k', '720P', '8k', ''];
const RATIOS = [...WIDE.split(', '), '2:1', '9:21', '16 : 9', ''];

onEachDatabase(
  (house) => {
    /** The pointers of the refusal; empty if the request is accepted. */
    async function refusedAt(body: unknown): Promise<string[]> {
      const response = await post(house(), body);
      if (response.status === 202) return [];
      const { errors = [] } = await problemIn(response, 'INVALID_REQUEST');
      return errors.map(({ pointer }) => pointer);
    }
    const configured = (outputModel: string, configs: object) => refusedAt({ ...FILM, outputModel, configs });
    const within = (allowed: boolean, field: string) => (allowed ? [] : [`/configs/${field}`]);

    test.each(LIMITS)('$model accepts exactly its resolutions', async ({ model, resolutions }) => {
      for (const resolution of RESOLUTIONS) {
        const expected = within(resolutions.includes(resolution), 'resolution');
        expect(await configured(model, { resolution }), resolution).toEqual(expected);
      }
    });

    test.each(LIMITS)('$model accepts $min to $max whole seconds', async ({ model, min, max }) => {
      for (const durationSeconds of [min, max]) expect(await configured(model, { durationSeconds })).toEqual([]);
      for (const durationSeconds of [min - 1, max + 1, min + 0.5, 0, -min, String(min), null]) {
        expect(await configured(model, { durationSeconds }), `${durationSeconds}`).toEqual([
          '/configs/durationSeconds',
        ]);
      }
    });

    test.each(LIMITS)('$model accepts exactly its aspect ratios', async ({ model, ratios }) => {
      for (const aspectRatio of RATIOS) {
        const expected = within(ratios.includes(aspectRatio), 'aspectRatio');
        expect(await configured(model, { aspectRatio }), aspectRatio).toEqual(expected);
      }
    });

    test.each(LIMITS)('$model accepts audio only if it supports it', async ({ model, audio }) => {
      expect(await configured(model, { generateAudio: false })).toEqual([]);
      expect(await configured(model, { generateAudio: true })).toEqual(within(audio, 'generateAudio'));
      expect(await configured(model, { generateAudio: 'yes' })).toEqual(['/configs/generateAudio']);
    });

    test('all values outside the limits are reported together', async () => {
      const configs = { resolution: '4k', durationSeconds: 60, aspectRatio: '2:1', generateAudio: true };
      expect((await configured('minimax-h3', configs)).sort()).toEqual([
        '/configs/aspectRatio',
        '/configs/durationSeconds',
        '/configs/generateAudio',
        '/configs/resolution',
      ]);
    });

    test('a misspelt setting is 400, not a default', async () => {
      expect(await configured('seedance-2.5', { duration: 5 })).toEqual(['/configs/duration']);
    });

    test.each([
      ['DOCUMENT', 'gpt-image-2'],
      ['IMAGE', 'pdf'],
      ['VIDEO', 'meshy-7'],
      ['3D', 'veo-3.1-generate-preview'],
      ['IMAGE', 'gpt-image-9'],
      ['DOCUMENT', 'PDF'],
      ['DOCUMENT', ''],
      ['DOCUMENT', 'constructor'],
      ['DOCUMENT', null],
    ])('%s with the model %s is 400', async (outputType, outputModel) => {
      expect(await refusedAt({ ...PAGE, outputType, outputModel })).toEqual(['/outputModel']);
    });

    test.each(['AUDIO', 'document', '', null, 3])('the output type %j is 400', async (outputType) => {
      expect(await refusedAt({ ...PAGE, outputType })).toContain('/outputType');
    });

    test.each([PAGE, PICTURE, { ...PAGE, outputType: '3D', outputModel: 'meshy-7' }])(
      'configs on $outputModel are 400, even empty ones',
      async (body) => {
        expect(await refusedAt({ ...body, configs: {} })).toEqual(['/configs']);
        expect(await refusedAt({ ...body, configs: { generateAudio: false } })).toEqual(['/configs']);
      },
    );

    test('a prompt has 1 to 5000 characters, counted as code points', async () => {
      for (const prompt of ['x', 'x'.repeat(5000), '🦆'.repeat(5000)]) {
        expect(await refusedAt({ ...PAGE, prompt })).toEqual([]);
      }
      for (const prompt of ['', 'x'.repeat(5001), '🦆'.repeat(5001), null, 7]) {
        expect(await refusedAt({ ...PAGE, prompt })).toEqual(['/prompt']);
      }
    });

    test.each(['outputType', 'outputModel', 'prompt', 'folder', 'attachments'])('%s is required', async (field) => {
      expect(await refusedAt({ ...PAGE, [field]: undefined })).toContain(`/${field}`);
    });

    test('an unknown field is 400', async () => {
      expect(await refusedAt({ ...PAGE, model: 'pdf' })).toEqual(['/model']);
      expect(await refusedAt({ ...PAGE, folder: { id: 'DX00000000000000000000', name: 'x' } })).toEqual([
        '/folder/name',
      ]);
      expect(await refusedAt({ ...PAGE, attachments: [{ id: 'FX00000000000000000000', role: 'x' }] })).toEqual([
        '/attachments/0/role',
      ]);
    });

    test('refused requests create nothing', async () => {
      const count = async () => (await house().deps.db.selectFrom('generations').select('file_id').execute()).length;
      const before = await count();
      await refusedAt({ ...FILM, configs: { durationSeconds: 31 } });
      await refusedAt({ ...PAGE, prompt: '' });
      expect(await count()).toBe(before);
    });

    test('a body that is no object is 400', async () => {
      for (const body of ['text', [], null, 4]) {
        const response = await house().request('owner', 'POST', generatePath(house().projectId), json(body));
        expect(response.status).toBe(400);
      }
    });
  },
  { GENERATION_QUEUE_LIMIT: '10000' },
);
