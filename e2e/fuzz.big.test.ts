import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { DIALECTS } from '../packages/server/src/test/house.ts';
import { sendPipelined } from './fuzz/connections.ts';
import { runConversations } from './fuzz/conversation.ts';
import { fuzz, seed } from './fuzz/fuzz.ts';
import { operations } from './fuzz/operations.ts';
import { newRecords, type Records } from './fuzz/records.ts';
import { sendRubbish } from './fuzz/rubbish.ts';
import { Service } from './service.ts';

/** What a made-up request cannot have: parts that were stored, or a secret. */
const NEVER_SUCCEED = [
  'files.completeUpload',
  'attachments.complete',
  'attachments.completeForGeneration',
  'accessLinks.redeem',
  'webhooks.redeliver',
];

/** Among so many valid requests of an operation, at least one succeeds; among fewer, there may be none by chance. */
const MANY = 1000;

/** Valid requests of each operation, and as many invalid ones. `npm run fuzz` sends 1,000, which takes too long for every run of test:big. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 200);
/** Of 50 steps. */
const CONVERSATIONS = 50;
const CONNECTIONS = 5000;

/** Sends requests that are made from the OpenAPI document, sequences of them, and rubbish. The titles have the seed. */
describe.each(DIALECTS)(`%s, FUZZ_SEED=${seed}`, (dialect) => {
  let service: Service;
  /** For operations that change nothing. */
  let readOnly: Records;
  beforeAll(async () => {
    const backends = dialect === 'postgres' ? { postgres: inject('postgresUrl') } : {};
    service = await Service.start({ GENERATION_QUEUE_LIMIT: '1000000' }, backends, 'demo');
    readOnly = await newRecords(service.client);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(operations)(
    '$name answers valid and invalid requests as the document says',
    async (operation) => {
      const changes = operation.method !== 'GET' && operation.method !== 'QUERY';
      const records = changes ? await newRecords(service.client) : readOnly;
      const { succeeded, faults } = await fuzz(service, operation, records, REQUESTS);
      expect(faults.slice(0, 5)).toEqual([]);
      if (REQUESTS >= MANY && !NEVER_SUCCEED.includes(operation.name)) expect(succeeded).toBeGreaterThan(0);
    },
    600_000,
  );

  test('conversations of 50 steps leave what a model of them has', async () => {
    await runConversations(service, CONVERSATIONS);
  }, 600_000);

  test('requests in one write, or cut at any byte, get their answers in order', async () => {
    expect((await sendPipelined(service, CONNECTIONS)).slice(0, 5)).toEqual([]);
  }, 600_000);

  test('rubbish on a connection gets no server error, and others are served meanwhile', async () => {
    expect(await sendRubbish(service, CONNECTIONS)).toEqual([]);
    expect((await fetch(`${service.url}/readyz`)).ok).toBe(true);
  }, 600_000);
});
