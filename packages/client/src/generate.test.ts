import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createClient } from './client.ts';
import { GenerationFailed, generate, waitFor } from './generate.ts';
import { inTurn, json, refused, type StandIn, standIn } from './test/stand-in.ts';

/** Delays are recorded instead of waited for. */
vi.mock(import('./pause.ts'), () => ({
  pause: async (milliseconds) => void pauses.push(milliseconds),
}));
let pauses: number[] = [];
beforeEach(() => {
  pauses = [];
});

const file = (status: string, generation: object = {}) =>
  json(200, {
    data: { id: 'FX1', status, generation: { status: 'RUNNING', progress: 0.5, error: null, ...generation } },
  });
const RUNNING = file('GENERATING');
const DONE = file('UPLOADED', { status: 'SUCCEEDED', progress: 1 });
const clientOf = (server: StandIn) => createClient({ baseUrl: server.url, token: 'key' });
const asked = (server: StandIn) => server.received.map(({ method, url }) => `${method} ${url}`);

describe('waitFor', () => {
  test('polls once without wait, then with a long poll', async () => {
    await using server = await standIn(inTurn(RUNNING, DONE));
    expect(await waitFor(clientOf(server), 'FX1')).toMatchObject({ status: 'UPLOADED' });
    expect(asked(server)).toEqual(['GET /api/files/FX1?wait=0', 'GET /api/files/FX1?wait=50']);
    expect(pauses).toEqual([]);
  });

  test('polls more often with onProgress', async () => {
    await using server = await standIn(inTurn(RUNNING, RUNNING, DONE));
    const heard: number[] = [];
    await waitFor(clientOf(server), 'FX1', { onProgress: ({ progress }) => void heard.push(progress) });
    expect(asked(server).slice(1)).toEqual(['GET /api/files/FX1?wait=5', 'GET /api/files/FX1?wait=5']);
    expect(heard).toEqual([0.5, 0.5, 1]);
  });

  test('pauses between polls if the service does not wait', async () => {
    await using server = await standIn(inTurn(RUNNING, RUNNING, RUNNING, DONE));
    await waitFor(clientOf(server), 'FX1');
    expect(pauses).toHaveLength(2);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000);
  });

  test('retries for longer than a single call', async () => {
    const away = Array.from({ length: 11 }, () => 'reset' as const);
    await using server = await standIn(inTurn(RUNNING, ...away, DONE));
    expect(await waitFor(clientOf(server), 'FX1')).toMatchObject({ status: 'UPLOADED' });
  });

  test('throws GenerationFailed with the reason', async () => {
    const error = { code: 'MODERATED', message: 'Not this.', retryable: false };
    await using server = await standIn(file('FAILED', { status: 'FAILED', error }));
    const failure = await waitFor(clientOf(server), 'FX1').catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(GenerationFailed);
    expect(failure).toMatchObject({ message: 'MODERATED: Not this.', error, file: { id: 'FX1' } });
    await using canceled = await standIn(file('CANCELED', { status: 'CANCELED' }));
    await expect(waitFor(clientOf(canceled), 'FX1')).rejects.toMatchObject({
      name: 'GenerationFailed',
      error: null,
      message: 'The file FX1 is CANCELED.',
    });
  });
});

describe('generate', () => {
  const order = { project: 'p', outputType: 'IMAGE', outputModel: 'gpt-image-2', prompt: 'Fog' } as const;

  test('fills in the defaults, and passes the id to onStart before it waits', async () => {
    await using server = await standIn(inTurn(json(202, { data: { id: 'FX1' } }), DONE));
    let heard: string[] = [];
    await generate(clientOf(server), {
      ...order,
      idempotencyKey: 'order-7',
      onStart: (id) => {
        heard = [id, ...asked(server)];
      },
    });
    expect(heard).toEqual(['FX1', 'POST /api/projects/p/files/upload.generate']);
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      outputType: 'IMAGE',
      outputModel: 'gpt-image-2',
      prompt: 'Fog',
      folder: null,
      attachments: [],
    });
    expect(server.received[0]?.headers['idempotency-key']).toBe('order-7');
  });

  test('a refused request throws a problem without waiting', async () => {
    await using server = await standIn(refused(422, 'MODEL_NOT_AVAILABLE'));
    await expect(generate(clientOf(server), order)).rejects.toMatchObject({ code: 'MODEL_NOT_AVAILABLE' });
    expect(server.received).toHaveLength(1);
  });
});
