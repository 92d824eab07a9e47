import { expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { onEachDatabase } from '../../test/house.ts';
import { fileOf, generate, post, stored } from './test/generations.ts';

/** The table of models of the API reference, and their default settings. */
const MODELS = `
DOCUMENT | pdf                           | document     | -
DOCUMENT | markdown                      | document     | -
IMAGE    | gpt-image-2.5-flare           | gpt-image    | -
IMAGE    | gpt-image-2                   | gpt-image    | -
IMAGE    | gemini-3-pro-image            | gemini-image | -
IMAGE    | gemini-3.1-flash-image        | gemini-image | -
IMAGE    | gemini-3.1-flash-lite-image   | gemini-image | -
VIDEO    | seedance-2.5                  | seedance     | 720p 5 16:9 true
VIDEO    | seedance-2.0                  | seedance     | 720p 5 16:9 true
VIDEO    | seedance-2.0-fast             | seedance     | 720p 5 16:9 true
VIDEO    | seedance-2.0-mini             | seedance     | 720p 5 16:9 true
VIDEO    | kling-3.0-omni                | kling        | 720p 5 16:9 true
VIDEO    | kling-3.0                     | kling        | 720p 5 16:9 true
VIDEO    | kling-3.0-turbo               | kling        | 720p 5 16:9 true
VIDEO    | minimax-h3-max                | minimax      | 768p 5 16:9 false
VIDEO    | minimax-h3                    | minimax      | 768p 5 16:9 false
VIDEO    | veo-3.1-generate-preview      | veo          | 720p 8 16:9 true
VIDEO    | veo-3.1-lite-generate-preview | veo          | 720p 8 16:9 true
3D       | meshy-7                       | meshy        | -
3D       | hunyuan3d-3.1                 | hunyuan3d    | -`
  .trim()
  .split('\n')
  .map((line) => {
    const [outputType = '', outputModel = '', family = '', settings = ''] = line.split('|').map((cell) => cell.trim());
    const [resolution, seconds, aspectRatio, audio] = settings.split(' ');
    const configs =
      settings === '-'
        ? null
        : { resolution, durationSeconds: Number(seconds), aspectRatio, generateAudio: audio === 'true' };
    return { outputType, outputModel, family, configs };
  });

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  POST /api/projects/:id/files/upload.generate | ai:generate | O M Mb | 2 | generate_file | 202`;

const BODIES: Bodies = {
  'POST /api/projects/:id/files/upload.generate': () => ({
    outputType: 'DOCUMENT',
    outputModel: 'markdown',
    prompt: 'A page.',
    folder: null,
    attachments: [],
  }),
};

onEachDatabase(
  (house) => {
    test.each(MODELS)(
      '$outputModel generates $outputType: 202 with the id only, queued with the effective settings',
      async ({ family, ...expected }) => {
        const { outputType, outputModel, configs } = expected;
        const response = await post(house(), {
          outputType,
          outputModel,
          prompt: 'Tides',
          folder: null,
          attachments: [],
        });
        expect(response.status).toBe(202);
        const answer = await response.json();
        expect(answer).toEqual({ data: { id: expect.stringMatching(/^FX[0-9A-HJKMNP-TV-Z]{20}$/) } });
        const { id } = (answer as { data: { id: string } }).data;
        expect(await fileOf(house(), id)).toMatchObject({
          mode: 'GENERATED',
          status: 'GENERATING',
          tag: 'NEED_REVIEW',
          mimeType: null,
          size: null,
          sha256: null,
          folder: null,
          createdBy: { id: house().people.owner.userId },
          generation: {
            status: 'QUEUED',
            outputType,
            outputModel,
            prompt: 'Tides',
            configs,
            attachments: [],
            progress: 0,
            provider: null,
            error: null,
            warnings: [],
            queuedAt: expect.stringMatching(TIME),
            startedAt: null,
            finishedAt: null,
          },
        });
        expect((await stored(house(), id)).generation).toMatchObject({ family, workspace_id: house().workspaceId });
      },
    );

    test('given settings are used, the others are the defaults', async () => {
      const configs = { durationSeconds: 30, generateAudio: false };
      const id = await generate(house(), { outputType: 'VIDEO', outputModel: 'seedance-2.5', configs });
      expect((await fileOf(house(), id)).generation?.configs).toEqual({
        resolution: '720p',
        durationSeconds: 30,
        aspectRatio: '16:9',
        generateAudio: false,
      });
    });

    test('configs without any setting are the defaults', async () => {
      const id = await generate(house(), { outputType: 'VIDEO', outputModel: 'minimax-h3', configs: {} });
      expect((await fileOf(house(), id)).generation?.configs).toMatchObject({ resolution: '768p', durationSeconds: 5 });
    });

    test('Location is the full URL of the file', async () => {
      const response = await post(house(), {
        outputType: 'DOCUMENT',
        outputModel: 'pdf',
        prompt: 'x',
        folder: null,
        attachments: [],
      });
      const { data } = (await response.json()) as { data: { id: string } };
      const location = response.headers.get('location') ?? '';
      expect(location).toBe(`${house().deps.config.publicUrl}/api/files/${data.id}`);
      const read = await fetch(location, { headers: { authorization: `Bearer ${house().people.owner.key}` } });
      expect(await read.json()).toMatchObject({ data: { id: data.id } });
    });

    test.each([
      ['DOCUMENT', 'markdown', 'A slow pan, over the SEA at dawn tomorrow', 'a-slow-pan-over-the-sea.md'],
      ['DOCUMENT', 'pdf', 'Plan', 'plan.pdf'],
      ['IMAGE', 'gpt-image-2', '../../etc/passwd\n', 'etc-passwd.png'],
      ['VIDEO', 'veo-3.1-generate-preview', 'Ein Mädchen läuft', 'ein-mädchen-läuft.mp4'],
      ['VIDEO', 'kling-3.0', 'हिन्दी में', 'हिन्दी-में.mp4'],
      ['3D', 'meshy-7', '🦆🦆', 'untitled.glb'],
      ['3D', 'hunyuan3d-3.1', 'a'.repeat(100), `${'a'.repeat(60)}.glb`],
    ] as const)('a %s of %s is named after its prompt: %j', async (outputType, outputModel, prompt, name) => {
      const id = await generate(house(), { outputType, outputModel, prompt });
      expect((await fileOf(house(), id)).name).toBe(name);
    });

    testAccess(house, 'generation', ACCESS, BODIES);
  },
  { GENERATION_QUEUE_LIMIT: '1000' },
);
