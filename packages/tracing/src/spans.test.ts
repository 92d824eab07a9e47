import { SpanStatusCode, trace } from '@opentelemetry/api';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inSpan } from './spans.ts';

let ended: ReadableSpan[] = [];
beforeAll(() => {
  const kept = {
    onStart: () => {},
    onEnd: (span: ReadableSpan) => void ended.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [kept] }));
});
afterAll(() => trace.disable());

/** The span of work that throws the error. */
async function spanOf(error: Error, signal?: AbortSignal): Promise<ReadableSpan | undefined> {
  ended = [];
  const options = { errorType: () => 'BROKEN', ...(signal && { signal }) };
  await expect(inSpan('work', options, () => Promise.reject(error))).rejects.toBe(error);
  return ended[0];
}

const FAULT = { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'BROKEN' } };
const NO_FAULT = { status: { code: SpanStatusCode.UNSET }, attributes: {} };
const abortError = () => new DOMException('The operation was aborted', 'AbortError');

test.each([
  ['AbortSignal.abort', AbortSignal.abort()],
  ['a reason of its own', AbortSignal.abort(new Error('another worker holds it'))],
  ['a stop before the timeout', AbortSignal.any([AbortSignal.abort(), AbortSignal.timeout(60_000)])],
])('work that is stopped by %s has not failed, whatever it throws', async (_name, signal) => {
  expect(await spanOf(abortError(), signal)).toMatchObject(NO_FAULT);
  expect(await spanOf(new Error('the last answer'), signal)).toMatchObject(NO_FAULT);
});

test('a timeout is a fault, also if it is thrown as an AbortError', async () => {
  const timeout = AbortSignal.timeout(0);
  await expect.poll(() => timeout.aborted).toBe(true);
  expect(await spanOf(abortError(), timeout)).toMatchObject(FAULT);
});

test('any error is a fault while nothing stops the work', async () => {
  for (const signal of [undefined, new AbortController().signal]) {
    expect(await spanOf(abortError(), signal)).toMatchObject(FAULT);
    expect(await spanOf(new Error('broken'), signal)).toMatchObject(FAULT);
  }
});
