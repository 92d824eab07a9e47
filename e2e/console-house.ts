import { resolve } from 'node:path';
import type { GenerateRequest, Scope } from '@review/contract';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { openBrowser } from './browser.ts';
import { printed } from './processes.ts';
import { Service, type Settings } from './service.ts';
import { type Manner, Visit } from './visit.ts';

const repository = resolve(import.meta.dirname, '..');
export const OWNER = 'olive@demo.example';
export const REVIEWER = 'rui@demo.example';

export type Asked = Pick<GenerateRequest, 'outputType' | 'outputModel' | 'prompt' | 'configs'>;

/** A server with the built console, a worker, and a browser to look at it with. */
export class ConsoleHouse implements AsyncDisposable {
  readonly service: Service;
  readonly #browser: Browser;

  private constructor(service: Service, browser: Browser) {
    this.service = service;
    this.#browser = browser;
  }

  static async open(settings: Settings = {}): Promise<ConsoleHouse> {
    const service = await Service.start({
      CONSOLE_DIR: resolve(repository, 'apps/dev-console/dist'),
      SANDBOX_MILLISECONDS: '300',
      ...settings,
    });
    await service.startWorker('console');
    return new ConsoleHouse(service, await openBrowser());
  }

  visit(manner: Manner = {}): Promise<Visit> {
    return Visit.begin(this.#browser, this.service.url, manner);
  }

  /** A key of one of the people of the demo. */
  async keyOf(email: string, scopes: readonly Scope[] | 'all' = 'all'): Promise<string> {
    const { data } = await this.service.client.ping.ping();
    const command = resolve(repository, 'packages/server/dist/commands/main.js');
    const scopesText = scopes === 'all' ? 'all' : scopes.join(',');
    const words = [
      'key',
      'create',
      '--workspace',
      data.workspace.id,
      '--user',
      email,
      '--scopes',
      scopesText,
      '--json',
    ];
    const answer = await printed(process.execPath, [command, ...words], this.service.settings);
    return z.object({ key: z.string() }).parse(JSON.parse(answer)).key;
  }

  /** A generation that was asked for elsewhere. */
  async generate(asked: Asked): Promise<string> {
    const body = { folder: null, attachments: [], ...asked };
    const { service } = this;
    return (await service.client.generation.generate({ params: { id: service.projectId }, body })).data.id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.service[Symbol.asyncDispose]();
  }
}

/** Fills in the form and sends it; answers the id of the file that is made. */
export async function generateByHand(page: Page, type: string, model: string, prompt: string): Promise<string> {
  await page.getByRole('radio', { name: type, exact: true }).check({ force: true });
  await page.getByRole('radio', { name: new RegExp(`^${model} (live|sandbox)`) }).check({ force: true });
  await page.getByRole('textbox', { name: 'Prompt' }).fill(prompt);
  await page.getByRole('main').getByRole('button', { name: 'Generate', exact: true }).click();
  await page.waitForURL(/\/runs\/FX/);
  return page.url().slice(-22);
}
