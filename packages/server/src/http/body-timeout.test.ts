import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openOnDisk } from '../storage/test/drivers.ts';
import { beginUpload } from '../storage/test/upload.ts';
import { BODY_LIMITS, type BodyLimits } from './body-timeout.ts';

const bytes = randomBytes(1000);

/** Starts the upload of a part at a server with these limits; `send` writes 100 bytes. */
async function beginPart(limits: Partial<BodyLimits>) {
  const opened = await openOnDisk({ ...BODY_LIMITS, ...limits });
  const { storage } = opened;
  const url = await storage.partUrl(await beginUpload(storage), { partNumber: 1, size: bytes.length }, 60);
  const sent = request(url, { method: 'PUT', headers: { 'content-length': bytes.length } });
  sent.on('error', () => {});
  let at = 0;
  return {
    sent,
    send: () => {
      sent.write(bytes.subarray(at, at + 100));
      at += 100;
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

async function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

async function expectTimeout(answer: IncomingMessage, detail: string): Promise<void> {
  expect(answer.statusCode).toBe(408);
  expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json', connection: 'close' });
  expect(JSON.parse(await text(answer))).toMatchObject({
    code: 'REQUEST_TIMEOUT',
    status: 408,
    detail: expect.stringContaining(detail),
    instance: expect.stringMatching(/^\/blobs\/parts\/[^?]+$/),
  });
}

test('a body that takes longer than the idle timeout is accepted while bytes keep arriving', async () => {
  await using part = await beginPart({ idleMs: 500 });
  const answer = answerTo(part.sent);
  const startedAt = performance.now();
  for (let chunk = 0; chunk < 10; chunk++) {
    part.send();
    await delay(80);
  }
  expect(performance.now() - startedAt).toBeGreaterThan(500);
  expect((await answer).statusCode).toBe(200);
});

test('a body that stops arriving is 408, and the connection is closed', async () => {
  await using part = await beginPart({ idleMs: 200 });
  const answer = answerTo(part.sent);
  part.send();
  await expectTimeout(await answer, 'No byte');
  if (!part.sent.socket?.destroyed) await once(part.sent, 'close');
  expect(part.sent.socket?.destroyed).toBe(true);
});

test('a body that arrives byte by byte, below the minimum rate, is 408 after the grace time', async () => {
  await using part = await beginPart({ idleMs: 400, graceMs: 200, minBytesPerSecond: 1_000_000 });
  const answer = answerTo(part.sent);
  const dripping = setInterval(part.send, 50);
  await expectTimeout(await answer, 'bytes per second');
  clearInterval(dripping);
});
