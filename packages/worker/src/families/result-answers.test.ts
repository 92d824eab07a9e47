import { afterAll, beforeAll, expect, test } from 'vitest';
import { StepError } from '../step-error.ts';
import { callFor, downloaded, familyWith, taskFor } from './test/asking.ts';
import { type Double, type Reply, startDouble } from './test/double.ts';
import { settingsOfAllAt, VENDORS } from './test/doubles.ts';
import { type Mutation, mutationsOf } from './test/mutations.ts';
import type { ResultAnswer } from './test/vendor-double.ts';

/** A vendor that answers every request with the same answer, to test how an adapter reads it. */
let vendor: Double;
let reply: Reply = {};
beforeAll(async () => {
  vendor = await startDouble(({ path }) => (path.endsWith('/status') ? { body: { status: 'COMPLETED' } } : reply));
});
afterAll(() => vendor[Symbol.asyncDispose]());

/** Returns the result of a submit, or of the poll of a job. */
async function read({ model, configs, job }: ResultAnswer): Promise<string> {
  const family = familyWith(settingsOfAllAt(vendor.url), model);
  const task = taskFor(model, configs === undefined ? {} : { configs });
  if (job !== undefined) {
    const polled = await family.poll({ ...callFor(task), job });
    return polled.state === 'succeeded' ? String(polled.output['url']) : polled.state;
  }
  const submitted = await family.submit(callFor(task));
  if ('job' in submitted) return String(submitted.job['text']);
  return (await downloaded(family, task, submitted.done)).toString();
}

const touches = ({ path, kind }: Mutation, field: string): boolean =>
  kind !== 'added' && (path === field || field.startsWith(`${path}.`) || path.startsWith(`${field}.`));

test.each(VENDORS.flatMap(({ resultAnswers = [] }) => resultAnswers))(
  'an answer of $name returns its result if it can be read',
  async (subject) => {
    const outcomeOf = async (answer: object) => {
      reply = subject.reply(answer);
      return read(subject).catch((error: unknown) => (error instanceof StepError ? error.type : String(error)));
    };
    expect(await outcomeOf(subject.answer)).toBe(subject.wanted);
    const wrong: string[] = [];
    for (const mutation of mutationsOf(subject.answer)) {
      if (subject.needed.some((field) => touches(mutation, field))) continue;
      const outcome = await outcomeOf(mutation.answer);
      if (outcome !== subject.wanted) wrong.push(`${mutation.path} ${mutation.kind}: ${outcome}`);
    }
    expect(wrong).toEqual([]);
  },
);
