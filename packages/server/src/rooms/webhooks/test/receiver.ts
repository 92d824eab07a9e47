import type { WebhookMessage, WebhookOutcome, WebhookRequest } from '@review/contract';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { type House, json } from '../../../test/house.ts';
import { newProject } from '../../../test/people.ts';
import { workerOf } from '../../generation/test/generations.ts';

export const URL_OF_RECEIVER = 'https://receiver.example.com/hook';

type Fields = Partial<Parameters<House['people']['owner']['client']['webhooks']['create']>[0]['body']>;

export interface TestedWebhook {
  id: string;
  projectId: string;
}

/** A webhook of a new project. */
export async function newWebhook(house: House, fields: Fields = {}): Promise<TestedWebhook> {
  const projectId = await newProject(house.people.owner);
  return { projectId, id: await addWebhook(house, projectId, fields) };
}

export async function addWebhook(house: House, projectId: string, fields: Fields = {}): Promise<string> {
  const body = { url: URL_OF_RECEIVER, ...fields };
  return (await house.people.owner.client.webhooks.create({ params: { id: projectId }, body })).data.id;
}

export const read = async (house: House, id: string) =>
  (await house.people.owner.client.webhooks.get({ params: { id } })).data;

export const deliveriesOf = async (house: House, id: string, status?: 'PENDING' | 'SUCCEEDED' | 'FAILED') =>
  (await house.people.owner.client.webhooks.deliveries({ params: { id }, body: { status } })).data;

/** Creates a comment and returns its id. */
export async function comment(house: House, projectId: string): Promise<string> {
  const body = { content: 'Good.' };
  return (await house.people.owner.client.comments.create({ params: { id: projectId }, body })).data.id;
}

/** The message of a request, with its signature verified. */
export function verified(secret: string, { headers, body }: WebhookRequest): WebhookMessage {
  const message = new Webhook(secret).verify(body, headers);
  expect(message).toEqual(JSON.parse(body));
  return JSON.parse(body);
}

export const outcomeOf = (deliveryId: string, status: number, excerpt = ''): WebhookOutcome => ({
  deliveryId,
  responseStatus: status,
  responseExcerpt: excerpt,
  error: status < 300 ? null : `The webhook answered with status ${status}.`,
});

/** A worker that holds the webhook. It reports one outcome and gets the next requests. */
export async function holder(house: House, webhookId: string) {
  const { exchangeDeliveries } = workerOf(house);
  const params = { id: webhookId };
  let epoch: number | null = null;
  const exchange = async (outcomes: WebhookOutcome[] = [], most = 8): Promise<WebhookRequest[]> => {
    const { data } = await exchangeDeliveries({ params, body: { epoch, outcomes, most } });
    epoch = data.epoch;
    return data.requests;
  };
  return {
    exchange,
    /** Answers all requests until none is due, and returns them. */
    async drain(status: number | ((request: WebhookRequest) => number)): Promise<WebhookRequest[]> {
      const statusOf = (request: WebhookRequest) => (typeof status === 'number' ? status : status(request));
      const all: WebhookRequest[] = [];
      for (let requests = await exchange(); requests.length > 0; ) {
        all.push(...requests);
        requests = await exchange(requests.map((request) => outcomeOf(request.deliveryId, statusOf(request))));
      }
      return all;
    },
  };
}

export const typesIn = (requests: readonly WebhookRequest[]): string[] =>
  requests.map(({ body }) => JSON.parse(body).type);

/** Makes the retries of a webhook due. */
export async function advanceRetries({ deps: { db, clock } }: House, webhookId: string): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: clock(-1) })
    .where('webhook_id', '=', webhookId)
    .where('next_attempt_at', 'is not', null)
    .execute();
}

/** Sends a request that the typed client would refuse. */
export const postWebhook = (house: House, body: unknown): Promise<Response> =>
  house.request('owner', 'POST', `/api/projects/${house.projectId}/webhooks`, json(body));
