import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';

export interface BrowserOptions {
  /** The key of the session; null starts signed out. */
  key?: string | null;
  dark?: boolean;
  phone?: boolean;
}

const Found = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

/** A browser context with one page of the console. Collects the errors that the page logs. */
export class Visit implements AsyncDisposable {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #url: string;
  readonly #errors: string[] = [];

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.page = page;
    this.#context = context;
    this.#url = url;
    page.on('console', (message) => {
      if (message.type() === 'error') this.#errors.push(message.text());
    });
    page.on('pageerror', (error) => this.#errors.push(String(error)));
  }

  static async begin(
    browser: Browser,
    url: string,
    { key = null, dark = false, phone = false }: BrowserOptions = {},
  ): Promise<Visit> {
    const context = await browser.newContext({
      colorScheme: dark ? 'dark' : 'light',
      viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 820 },
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(20_000);
    if (key !== null) {
      // Only on the first page load, so that signing out works.
      const content = `if (sessionStorage.length === 0) sessionStorage.setItem('api-key', '${key}')`;
      await context.addInitScript({ content });
    }
    return new Visit(context, await context.newPage(), url);
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.#url + path);
  }

  /** Returns the errors logged since the last call, except expected ones. */
  takeConsoleErrors(expected?: RegExp): string[] {
    const errors = this.#errors.splice(0);
    return expected === undefined ? errors : errors.filter((text) => !expected.test(text));
  }

  /** Expects no serious or critical accessibility violation. */
  async expectAccessible(where: string): Promise<void> {
    await this.page.evaluate(axe.source);
    const found = Found.parse(await this.page.evaluate("axe.run(document, { resultTypes: ['violations'] })"));
    const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    const violations = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n  ')}`);
    expect(violations, where).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
