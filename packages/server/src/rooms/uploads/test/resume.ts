import { randomBytes, randomInt } from 'node:crypto';
import { type Client, createClient } from '@review/client';
import { expect } from 'vitest';
import { createApp } from '../../../app.ts';
import { listen } from '../../../listen.ts';
import { openDeps } from '../../../open-deps.ts';
import type { House } from '../../../test/house.ts';
import { complete, type Kind, putParts, sha256, start, storedBytes } from './uploads.ts';

export interface SecondServer extends AsyncDisposable {
  url: string;
  owner: Client;
}

/** Another server on the same data. */
export async function startSecondServer(house: House): Promise<SecondServer> {
  const deps = openDeps(house.deps.config, house.deps.log);
  const listening = await listen(createApp(deps), { host: '127.0.0.1', port: 0 }, 1);
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    owner: createClient({ baseUrl: url, token: house.people.owner.key, retries: 0 }),
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await deps[Symbol.asyncDispose]();
    },
  };
}

/** Sends some parts to the first server, the rest to the second, completes there, and compares the bytes. */
export async function resume(house: House, second: SecondServer, kind: Kind, size: number): Promise<void> {
  const bytes = randomBytes(size);
  const started = await start(house.people.owner.client, kind, house.projectId, { size });
  const cut = randomInt(0, started.parts.length + 1);
  const before = await putParts(started, bytes, started.parts.slice(0, cut));
  const rest = started.parts.slice(cut).map((part) => ({ ...part, url: part.url.replace(house.url, second.url) }));
  const after = await putParts(started, bytes, rest);
  await complete(second.owner, started.id, [...before, ...after]);
  const stored = await storedBytes(house, started.id);
  expect(sha256(stored), `${size} bytes, cut after part ${cut}`).toBe(sha256(bytes));
}
