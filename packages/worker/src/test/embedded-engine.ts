import { afterEach, beforeEach } from 'vitest';
import { Drain } from '../drain.ts';
import { runEmbedded } from '../engines/embedded.ts';
import type { Family } from '../families/family.ts';
import type { StepContext } from '../steps/context.ts';
import { contextOf } from './fake-family.ts';
import { type FakeServer, fakeServer, type Row } from './fake-server.ts';

interface EmbeddedEngine {
  server: FakeServer;
  /** Stops the engine. */
  soon: AbortController;
  run(family: Family, context?: StepContext): Promise<void>;
  /** Adds generations that the engine will claim. */
  waiting(...models: string[]): Row[];
}

async function openEngine(): Promise<EmbeddedEngine> {
  const server = await fakeServer();
  const soon = new AbortController();
  return {
    server,
    soon,
    run: (family, context = contextOf(server, family)) =>
      runEmbedded(
        context,
        { worker: 'left', concurrency: 20 },
        { soon: soon.signal, now: new AbortController().signal },
        new Drain(),
      ),
    waiting: (...models) =>
      models.map((model) => {
        const { row, handed } = server.add(model);
        server.claimable.push(handed);
        return row;
      }),
  };
}

/** Returns the embedded engine on a fake server, a new one for each test. */
export function embeddedEngine(): () => EmbeddedEngine {
  let engine: EmbeddedEngine;
  beforeEach(async () => {
    engine = await openEngine();
  });
  afterEach(async () => {
    engine.soon.abort();
    await engine.server[Symbol.asyncDispose]();
  });
  return () => engine;
}

/** Whether the engine holds a generation. It does for a moment after the server has its outcome, and a stop would release it. */
export async function isBusy({ metrics }: StepContext): Promise<boolean> {
  return /^generations_in_progress\{.*\} [1-9]/m.test(await metrics.registry.metrics());
}
