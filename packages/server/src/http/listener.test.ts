import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type RequestHandler } from 'express';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { listen } from '../listen.ts';
import { ProblemError } from '../request/problem.ts';
import { errorHandler } from './error-handler.ts';
import { createListener } from './listener.ts';

const log = pino({ level: 'silent' });

/** Requests a path of a server with one step, before an app that answers everything with `app`. */
async function answerOf(step: RequestHandler, init: RequestInit = {}, onError = errorHandler({ log })) {
  const app = express().use((_request, response) => void response.send('app'));
  const listener = createListener([step], app, onError, { log });
  await using listening = await listen(listener, { host: '127.0.0.1', port: 0 }, 1);
  const answer = await fetch(`http://127.0.0.1:${listening.port}/a`, init);
  return { status: answer.status, length: answer.headers.get('content-length'), text: await answer.text() };
}

test('a step gets the request and the response of Express, and the app what it passes on', async () => {
  const seen: unknown[] = [];
  const step: RequestHandler = (request, response, next) => {
    seen.push(request.get('x-a'), request.path, request.res === response, typeof response.status);
    next();
  };
  const answer = await answerOf(step, { headers: { 'x-a': 'b' } });
  expect(seen).toEqual(['b', '/a', true, 'function']);
  expect(answer.text).toBe('app');
});

test.each(['GET', 'HEAD'])('what a step sends has its length, and is not passed on: %s', async (method) => {
  const answer = await answerOf((_request, response) => void response.type('text/plain').send('käse'), { method });
  expect(answer).toEqual({ status: 200, length: '5', text: method === 'GET' ? 'käse' : '' });
});

test.each<[string, RequestHandler]>([
  [
    'throws',
    () => {
      throw new ProblemError('NOT_FOUND');
    },
  ],
  ['passes on', (_request, _response, next) => next(new ProblemError('NOT_FOUND'))],
])('an error that a step %s is answered with a problem', async (_how, step) => {
  const { status, text } = await answerOf(step);
  expect([status, JSON.parse(text).code]).toEqual([404, 'NOT_FOUND']);
});

test('an error after the response has begun closes the connection', async () => {
  const begun = answerOf((_request, response, next) => {
    response.write('half of it');
    next(new Error('broken'));
  });
  await expect(begun).rejects.toThrow();
});

test.each<[string, RequestHandler]>([
  ['a call', (_request, _response, next) => next(new Error('broken'))],
  ['a promise', (_request, _response, next) => void Promise.reject(new Error('broken')).catch(next)],
])('an error of the error handler, after %s has failed, closes the connection and nothing more', async (_how, step) => {
  const onError = () => {
    throw new Error('broken too');
  };
  await expect(answerOf(step, {}, onError)).rejects.toThrow('fetch failed');
});

test('a server without its classes is a mistake that the message names', async () => {
  const listener = createListener([], express(), errorHandler({ log }), { log });
  const request = new IncomingMessage(new Socket());
  expect(() => listener(request, new ServerResponse(request))).toThrow('not created with the classes of its listener');
});
