import { describe, expect, it } from 'vitest';
import { capBreaches, contract, defaultSettings, findModel, MODELS, settingsInEffect } from './index.ts';
import { refusal, refusedFields } from './test/refusal.ts';

const WIDE = '21:9 16:9 4:3 1:1 3:4 9:16';
/** The specification's table: model, resolutions, seconds, ratios, audio; and the defaults that follow from it. */
const VIDEO = `
seedance-2.5 | 480p 720p 1080p | 4-30 | ${WIDE} | yes | 720p 5
seedance-2.0 | 480p 720p 1080p 4k | 4-15 | ${WIDE} | yes | 720p 5
seedance-2.0-fast | 480p 720p | 4-15 | ${WIDE} | yes | 720p 5
seedance-2.0-mini | 480p 720p | 4-15 | ${WIDE} | yes | 720p 5
kling-3.0-omni | 720p 1080p | 3-15 | 16:9 9:16 1:1 | yes | 720p 5
kling-3.0 | 720p 1080p | 3-15 | 16:9 9:16 1:1 | yes | 720p 5
kling-3.0-turbo | 720p 1080p | 3-15 | 16:9 9:16 1:1 | yes | 720p 5
minimax-h3-max | 480p 768p 1080p | 5-15 | ${WIDE} | no | 768p 5
minimax-h3 | 768p 2k | 5-15 | ${WIDE} | no | 768p 5
veo-3.1-generate-preview | 720p 1080p 4k | 8-8 | 16:9 9:16 | yes | 720p 8
veo-3.1-lite-generate-preview | 720p 1080p | 8-8 | 16:9 9:16 | yes | 720p 8
`
  .trim()
  .split('\n')
  .map((line) => {
    const [id = '', resolutions = '', seconds = '', ratios = '', audio, defaults = ''] = line.split(' | ');
    const [min, max] = seconds.split('-').map(Number);
    const [resolution, duration] = defaults.split(' ');
    return {
      id,
      resolutions: resolutions.split(' '),
      min: min ?? 0,
      max: max ?? 0,
      ratios: ratios.split(' '),
      audio: audio === 'yes',
      defaults: { resolution, durationSeconds: Number(duration), aspectRatio: '16:9', generateAudio: audio === 'yes' },
    };
  });

const BY_TYPE = {
  DOCUMENT: ['pdf', 'markdown'],
  IMAGE: [
    'gpt-image-2.5-flare',
    'gpt-image-2',
    'gemini-3-pro-image',
    'gemini-3.1-flash-image',
    'gemini-3.1-flash-lite-image',
  ],
  VIDEO: VIDEO.map((row) => row.id),
  '3D': ['meshy-7', 'hunyuan3d-3.1'],
};
const RESOLUTIONS = ['480p', '720p', '768p', '1080p', '2k', '4k'];
const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

const { body } = contract.generation.generate;
const asked = (outputType: string, outputModel: string, configs?: object) => ({
  outputType,
  outputModel,
  prompt: 'a slow pan',
  folder: null,
  attachments: [],
  ...(configs && { configs }),
});
const OUTSIDE = (field: string) => [`/configs/${field} OUTSIDE_MODEL_LIMITS`];

it('has every model, in the order of the specification', () => {
  expect(MODELS.map((model) => [model.outputType, model.id])).toEqual(
    Object.entries(BY_TYPE).flatMap(([type, models]) => models.map((id) => [type, id])),
  );
});

describe.each(Object.entries(BY_TYPE))('%s', (type, own) => {
  it.each(Object.values(BY_TYPE).flat())('accepts %s only if it has this output type', (id) => {
    expect(refusal(body, asked(type, id))).toEqual(own.includes(id) ? [] : ['/outputModel INVALID_MODEL']);
  });

  it('takes no unknown model', () => {
    for (const id of ['', 'sora', 'PDF', `${own[0]} `, '__proto__']) {
      expect(refusal(body, asked(type, id)), id).toEqual(['/outputModel INVALID_MODEL']);
    }
  });

  if (type !== 'VIDEO') {
    it.each(own)('%s takes no configs, not even empty ones', (id) => {
      expect(refusal(body, asked(type, id, {}))).toEqual(['/configs CONFIGS_NOT_ALLOWED']);
      expect(refusal(body, asked(type, id, { resolution: '720p' }))).toEqual(['/configs CONFIGS_NOT_ALLOWED']);
      expect(findModel(id)?.video).toBeNull();
    });
  }
});

describe.each(VIDEO)('$id', ({ id, resolutions, min, max, ratios, audio, defaults }) => {
  const check = (configs: object) => refusal(body, asked('VIDEO', id, configs));

  it.each(RESOLUTIONS)('resolution %s', (resolution) => {
    expect(check({ resolution })).toEqual(resolutions.includes(resolution) ? [] : OUTSIDE('resolution'));
  });

  it.each(RATIOS)('aspect ratio %s', (aspectRatio) => {
    expect(check({ aspectRatio })).toEqual(ratios.includes(aspectRatio) ? [] : OUTSIDE('aspectRatio'));
  });

  it('duration at both bounds and beyond', () => {
    expect(check({ durationSeconds: min })).toEqual([]);
    expect(check({ durationSeconds: max })).toEqual([]);
    for (const durationSeconds of [min - 1, max + 1, 0, -1]) {
      expect(check({ durationSeconds })).toEqual(OUTSIDE('durationSeconds'));
    }
    expect(check({ durationSeconds: min + 0.5 })).toEqual(['/configs/durationSeconds INVALID_TYPE']);
    expect(check({ durationSeconds: String(min) })).toEqual(['/configs/durationSeconds INVALID_TYPE']);
  });

  it('audio', () => {
    expect(check({ generateAudio: true })).toEqual(audio ? [] : OUTSIDE('generateAudio'));
    expect(check({ generateAudio: false })).toEqual([]);
  });

  it('spellings that look alike', () => {
    for (const resolution of ['720P', '720', ' 720p', '']) expect(check({ resolution })).toEqual(OUTSIDE('resolution'));
    for (const aspectRatio of ['16/9', '16:09', '']) expect(check({ aspectRatio })).toEqual(OUTSIDE('aspectRatio'));
  });

  it('has defaults within its own limits', () => {
    const limits = findModel(id)?.video;
    if (!limits) throw new Error(`${id} is no video model`);
    expect(defaultSettings(limits)).toEqual(defaults);
    expect(check(defaultSettings(limits))).toEqual([]);
    expect(settingsInEffect(limits, undefined)).toEqual(defaults);
    expect(settingsInEffect(limits, { generateAudio: false, durationSeconds: max })).toEqual({
      ...defaults,
      generateAudio: false,
      durationSeconds: max,
    });
  });
});

it('names every setting outside the limits at once, and says what the model takes', () => {
  const configs = { generateAudio: true, resolution: '4k', durationSeconds: 4, aspectRatio: '2:1' };
  expect(refusedFields(body, asked('VIDEO', 'minimax-h3', configs))).toEqual([
    { pointer: '/configs/generateAudio', code: 'OUTSIDE_MODEL_LIMITS', message: 'minimax-h3 generates no audio.' },
    { pointer: '/configs/resolution', code: 'OUTSIDE_MODEL_LIMITS', message: 'minimax-h3 takes 768p, 2k.' },
    { pointer: '/configs/durationSeconds', code: 'OUTSIDE_MODEL_LIMITS', message: 'minimax-h3 takes 5 to 15 seconds.' },
    {
      pointer: '/configs/aspectRatio',
      code: 'OUTSIDE_MODEL_LIMITS',
      message: 'minimax-h3 takes 21:9, 16:9, 4:3, 1:1, 3:4, 9:16.',
    },
  ]);
});

it('refuses a misspelt setting', () => {
  expect(refusal(body, asked('VIDEO', 'seedance-2.5', { duration: 30 }))).toEqual(['/configs/duration UNKNOWN_FIELD']);
});

describe('caps of a vendor', () => {
  const turbo = { id: 'kling-3.0-turbo', caps: { promptCharacters: 3, attachments: 1 } };
  const free = { id: 'pdf', caps: { promptCharacters: null, attachments: null } };

  it('count code points', () => {
    expect(capBreaches(turbo, { prompt: '🪔🪔🪔', attachments: [1] })).toEqual([]);
  });

  it('report every breach', () => {
    expect(
      capBreaches(turbo, { prompt: 'lamp', attachments: [1, 2] }).map(({ path, message }) => [path, message]),
    ).toEqual([
      [['prompt'], 'kling-3.0-turbo takes prompts of at most 3 characters; this one has 4.'],
      [['attachments'], 'kling-3.0-turbo takes at most 1 attachment; there are 2.'],
    ]);
  });

  it('are empty if the vendor accepts all that the API does', () => {
    expect(capBreaches(free, { prompt: 'a'.repeat(5000), attachments: [1, 2, 3, 4, 5] })).toEqual([]);
  });
});
