import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILIES, workflowTypeOf } from '@review/contract';
import { DefaultLogger, Runtime, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { bundleWorkflows } from '../engines/workflow-bundle.ts';
import * as workflows from './index.ts';

// Recorded by the tests of e2e/temporal.test.ts with RECORD_HISTORIES=1.
const folder = join(import.meta.dirname, 'histories');
const names = readdirSync(folder).map((file) => file.replace('.json', ''));
const historyOf = (name: string) => readFileSync(join(folder, `${name}.json`), 'utf8');

let workflowBundle: WorkflowBundleWithSourceMap;

beforeAll(async () => {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { forward: {}, filter: 'OFF' } },
  });
  workflowBundle = await bundleWorkflows();
}, 60_000);

/** Replays a recorded history with the current workflows. */
async function replay(...texts: string[]): Promise<(Error | undefined)[]> {
  const histories = texts.map((text, index) => ({ workflowId: `history-${index}`, history: JSON.parse(text) }));
  const errors = new Map<string, Error | undefined>();
  for await (const result of Worker.runReplayHistories({ workflowBundle }, histories)) {
    errors.set(result.workflowId, result.error);
  }
  return histories.map(({ workflowId }) => errors.get(workflowId));
}

test('there is exactly one workflow for every family', () => {
  expect(Object.keys(workflows).sort()).toEqual(FAMILIES.map(workflowTypeOf).sort());
});

test('recorded histories replay', async () => {
  expect(names).toEqual(expect.arrayContaining(['success', 'failure', 'cancel']));
  const errors = await replay(...names.map(historyOf));
  expect(errors).toEqual(names.map(() => undefined));
});

test('a replay with steps in another order fails', async () => {
  const [error] = await replay(historyOf('success').replaceAll('"awaitJob"', '"store"'));
  expect(error?.message).toMatch(/nondeterminism/i);
});

test('the workflow bundle does not contain zod', () => {
  expect(workflowBundle.code).not.toMatch(/node_modules\/(\.pnpm\/)?zod/);
});
