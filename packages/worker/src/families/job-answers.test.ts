import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StepError } from '../step-error.ts';
import type { Family } from './family.ts';
import { callFor, familyWith, taskFor } from './test/asking.ts';
import { type Double, startDouble } from './test/double.ts';
import { settingsOfAllAt, VENDORS } from './test/doubles.ts';
import { type Mutation, mutationsOf } from './test/mutations.ts';
import { type JobAnswers, RESULT_URL } from './test/vendor-double.ts';

/** A vendor that answers every poll with the same answer, to test how an adapter reads it. */
let vendor: Double;
let answer: object = {};
/** fal returns the result in a second answer. */
let result: object = {};
let family: Family;
beforeAll(async () => {
  vendor = await startDouble(({ path }) => ({ body: path.endsWith('/requests/r1') ? result : answer }));
});
afterAll(() => vendor[Symbol.asyncDispose]());

/** Returns how an adapter reads an answer: a state, or the type of the error. */
async function read({ model, job, configs }: JobAnswers, body: object): Promise<string> {
  answer = body;
  const task = taskFor(model, configs === undefined ? {} : { configs });
  try {
    return (await family.poll({ ...callFor(task), job })).state;
  } catch (error) {
    return error instanceof StepError ? error.type : String(error);
  }
}

/** Returns the mutations that an adapter does not read as expected. */
async function misread(
  subject: JobAnswers,
  mutations: Mutation[],
  wanted: (mutation: Mutation, outcome: string) => boolean,
) {
  const wrong: string[] = [];
  for (const mutation of mutations) {
    if (mutation.path === subject.envelope && mutation.kind !== 'added') continue;
    const outcome = await read(subject, mutation.answer);
    if (!wanted(mutation, outcome)) wrong.push(`${mutation.path} ${mutation.kind}: ${outcome}`);
  }
  return wrong;
}

/** Whether the mutation changed the field or one of its parents; an added field does not. */
const touches = ({ path, kind }: Mutation, field: string): boolean =>
  kind !== 'added' && (path === field || field.startsWith(`${path}.`));

const FINAL = ['PROVIDER_FAILED', 'CONTENT_POLICY', 'INVALID_INPUT', 'AUTH', 'BALANCE'];

describe.each(VENDORS.flatMap(({ jobAnswers = [] }) => jobAnswers))('an answer of $name', (subject) => {
  beforeAll(() => {
    family = familyWith({ ...settingsOfAllAt(vendor.url), ...subject.settings?.(vendor.url) }, subject.model);
    result = { video: { url: RESULT_URL } };
  });

  test('about a running job keeps it running, regardless of other fields', async () => {
    result = { detail: 'Request is still in progress' };
    for (const running of subject.running) {
      expect(await read(subject, running)).toBe('running');
      expect(await misread(subject, mutationsOf(running), (_, outcome) => outcome === 'running')).toEqual([]);
    }
  });

  test.each([405, 418, 451])('with the undocumented status %i is retried', async (status) => {
    vendor.before = () => ({ status, body: { message: 'Something new' } });
    try {
      expect(await read(subject, {})).toBe('TRANSIENT');
    } finally {
      vendor.before = () => undefined;
    }
  });

  test('with an unknown job status keeps the job running', async () => {
    const field = subject.status.split('.').at(-1);
    const strange = JSON.parse(
      JSON.stringify(subject.running.at(-1)).replace(new RegExp(`"${field}":"[^"]*"`), `"${field}":"UNHEARD OF"`),
    );
    expect(await read(subject, strange)).toBe('running');
  });

  test('about a finished job returns the result if it can be read', async () => {
    result = { video: { url: RESULT_URL } };
    expect(await read(subject, subject.succeeded)).toBe('succeeded');
    const mutations = mutationsOf(subject.succeeded);
    const readable = mutations.filter((mutation) => !touches(mutation, subject.result));
    expect(await misread(subject, readable, (_, outcome) => outcome === 'succeeded')).toEqual([]);
    // A finished job without a result has failed: polling again would not end.
    const lost = mutations.filter((each) => touches(each, subject.result) && !touches(each, subject.status));
    expect(await misread(subject, lost, (_, outcome) => outcome === 'PROVIDER_FAILED')).toEqual([]);
  });

  test('about a failed job ends it, regardless of the reason', async () => {
    result = {};
    expect(FINAL).toContain(await read(subject, subject.failed));
    const mutations = mutationsOf(subject.failed).filter((mutation) => !touches(mutation, subject.status));
    expect(await misread(subject, mutations, (_, outcome) => FINAL.includes(outcome))).toEqual([]);
  });
});
