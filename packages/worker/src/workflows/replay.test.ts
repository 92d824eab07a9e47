import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILIES, workflowTypeOf } from '@review/contract';
import { DefaultLogger, Runtime, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { bundleWorkflows } from '../engines/workflow-bundle.ts';

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

test('the workflow runs under the type of every family', async () => {
  const recorded = /"workflowType":\s*\{\s*"name":\s*"\w+"\s*\}/;
  expect(historyOf('success')).toMatch(recorded);
  const ofEach = FAMILIES.map((family) =>
    historyOf('success').replace(recorded, `"workflowType":{"name":"${workflowTypeOf(family)}"}`),
  );
  expect(await replay(...ofEach)).toEqual(FAMILIES.map(() => undefined));
});

test('recorded histories replay', async () => {
  expect(names).toEqual(expect.arrayContaining(['success', 'failure', 'cancel', 'webhook']));
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
