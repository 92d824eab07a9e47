import axe from 'axe-core';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';
import { until } from './processes.ts';

export interface BrowserOptions {
  /** The key of the session; null starts signed out. */
  key?: string | null;
  dark?: boolean;
  phone?: boolean;
  /** Whether the console keeps its code for times without the service. Then tests cannot intercept requests for it. */
  keepsCode?: boolean;
}

/** The size of a phone's window. */
export const PHONE = { width: 390, height: 844 };
const EVENT_STREAM = /^\/api\/projects\/[^/]+\/events$/;
const QUIET_MS = 400;
const IDLE = `(async () => {
  const idle = () => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 5000 }));
  await idle();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await idle();
})()`;

const Found = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      nodes: z.array(z.object({ html: z.string(), failureSummary: z.string() })),
    }),
  ),
});

/** A browser context with one page of the console. Collects the errors that the page logs. */
export class Visit implements AsyncDisposable {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #url: string;
  readonly #errors: string[] = [];
  readonly #pending = new Set<Request>();
  #requests: string[] = [];
  #quietSince = performance.now();

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.page = page;
    this.#context = context;
    this.#url = url;
    page.on('console', (message) => {
      if (message.type() === 'error') this.#errors.push(message.text());
    });
    page.on('pageerror', (error) => this.#errors.push(String(error)));
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (EVENT_STREAM.test(pathname)) return;
      this.#pending.add(request);
      if (pathname.startsWith('/api/')) this.#requests.push(`${request.method()} ${pathname}`);
    });
    const end = (request: Request) => {
      if (this.#pending.delete(request)) this.#quietSince = performance.now();
    };
    page.on('requestfinished', end);
    page.on('requestfailed', end);
  }

  static async begin(
    browser: Browser,
    url: string,
    { key = null, dark = false, phone = false, keepsCode = false }: BrowserOptions = {},
  ): Promise<Visit> {
    const context = await browser.newContext({
      colorScheme: dark ? 'dark' : 'light',
      viewport: phone ? PHONE : { width: 1280, height: 820 },
      reducedMotion: 'reduce',
      serviceWorkers: keepsCode ? 'allow' : 'block',
    });
    context.setDefaultTimeout(60_000);
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

  /** Opens a page of a project. Resolves once its stream of events is open and the page is current. */
  async openLive(path: string): Promise<void> {
    const stream = this.page.waitForResponse(
      (response) => EVENT_STREAM.test(new URL(response.url()).pathname) && response.ok(),
    );
    await this.open(path);
    await stream;
    await this.settled();
  }

  /** Changes the setting of the machine while the page is open. Resolves once the page has its new colours. */
  async switchColors(colorScheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    await this.page.locator(`:root[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    const transitions = 'document.getAnimations().filter((animation) => animation instanceof CSSTransition)';
    await this.page.evaluate(`Promise.allSettled(${transitions}.map(({ finished }) => finished))`);
  }

  /** Answers as a service with too many open streams, so that the page polls. */
  async refuseEvents(): Promise<void> {
    await this.page.route(
      ({ pathname }) => EVENT_STREAM.test(pathname),
      (route) => route.fulfill({ status: 503, headers: { 'retry-after': '5' } }),
    );
  }

  /** Resolves when no request has been pending for a while, other than streams of events, which never end, and the page has drawn what it received. */
  async settled(): Promise<void> {
    const isQuiet = () => this.#pending.size === 0 && performance.now() - this.#quietSince > QUIET_MS;
    await until('the page is quiet', async () => {
      if (!isQuiet()) return false;
      // A page on a busy machine may still have to read a response, or to send the request that follows from it.
      // Refused if the page is being left.
      const isIdle = await this.page.evaluate(IDLE).then(
        () => true,
        () => false,
      );
      return isIdle && isQuiet();
    });
  }

  /** Returns the requests to the API since the last call, except streams of events. */
  takeRequests(): string[] {
    return this.#requests.splice(0);
  }

  /** Returns the errors logged since the last call, except expected ones. */
  takeConsoleErrors(expected?: RegExp): string[] {
    const errors = this.#errors.splice(0);
    return expected === undefined ? errors : errors.filter((text) => !expected.test(text));
  }

  /** Expects that axe finds no violation of any impact on the page. */
  async expectAccessible(where: string): Promise<void> {
    await this.page.evaluate(axe.source);
    const found = Found.parse(await this.page.evaluate("axe.run(document, { resultTypes: ['violations'] })"));
    const violations = found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n  ')}`,
    );
    expect(violations, where).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
