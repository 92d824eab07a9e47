import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';

export interface Manner {
  /** Signed in with this key from the start; null is nobody yet. */
  key?: string | null;
  dark?: boolean;
  phone?: boolean;
}

const Found = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

/** Somebody with a browser of their own in front of the console, who notes whatever it complains about. */
export class Visit implements AsyncDisposable {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #url: string;
  readonly #complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.page = page;
    this.#context = context;
    this.#url = url;
    page.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.#complaints.push(String(error)));
  }

  static async begin(
    browser: Browser,
    url: string,
    { key = null, dark = false, phone = false }: Manner = {},
  ): Promise<Visit> {
    const context = await browser.newContext({
      colorScheme: dark ? 'dark' : 'light',
      viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 820 },
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(20_000);
    if (key !== null) {
      // Only at the first look: whoever signs out stays so.
      const content = `if (sessionStorage.length === 0) sessionStorage.setItem('api-key', '${key}')`;
      await context.addInitScript({ content });
    }
    return new Visit(context, await context.newPage(), url);
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.#url + path);
  }

  /** What the browser complained about since it was asked last; a refusal that was provoked is none. */
  takeComplaints(provoked?: RegExp): string[] {
    const complaints = this.#complaints.splice(0);
    return provoked === undefined ? complaints : complaints.filter((text) => !provoked.test(text));
  }

  /** Nothing serious for people who see, hear or point otherwise. */
  async expectAccessible(where: string): Promise<void> {
    await this.page.evaluate(axe.source);
    const found = Found.parse(await this.page.evaluate("axe.run(document, { resultTypes: ['violations'] })"));
    const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    const told = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n  ')}`);
    expect(told, where).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
