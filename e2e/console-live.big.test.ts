import { instantOf } from '@review/contract';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inConsoleOnEachDatabase } from './console-fixture.ts';
import { until } from './processes.ts';

const SAMPLES = 15;
const TARGET_MS = 300;

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Resolves with the time at which the expression is true in the page, checked at every change of the document. */
const seen = (page: Page, expression: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      if (!(${expression})) return;
      observer.disconnect();
      resolve(Date.now());
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    look();
  })`);

const shows = (words: string) => `document.body.innerText.includes(${JSON.stringify(words)})`;

inConsoleOnEachDatabase('the time until another window shows a change', (fixture, database) => {
  /** Measures from the start of the request to the change of the document. */
  async function measure(
    path: (projectId: string) => string,
    change: (projectId: string, sample: number) => Promise<{ make: () => Promise<unknown>; expression: string }>,
  ): Promise<number[]> {
    const projectId = await fixture().newProject('Measured');
    await using visit = await fixture().visit();
    const taken: number[] = [];
    await visit.openLive(path(projectId));
    for (let sample = 0; sample < SAMPLES; sample++) {
      const { make, expression } = await change(projectId, sample);
      await visit.settled();
      const shown = seen(visit.page, expression);
      const begun = Date.now();
      await make();
      taken.push((await shown) - begun);
    }
    expect(visit.takeConsoleErrors()).toEqual([]);
    return taken;
  }

  function report(what: string, taken: readonly number[]): void {
    const [middle, max] = [median(taken), Math.max(...taken)];
    console.log(`${what} on ${database}: median ${middle} ms, max ${max} ms of ${taken.length}`);
    expect(middle).toBeLessThan(TARGET_MS);
  }

  test('a comment', async () => {
    const { client } = fixture().service;
    const taken = await measure(
      (projectId) => `/projects/${projectId}/comments`,
      async (id, sample) => {
        const content = `Remark ${sample}.`;
        return {
          make: () => client.comments.create({ params: { id }, body: { content } }),
          expression: shows(content),
        };
      },
    );
    report('a comment', taken);
  });

  test('a reaction', async () => {
    const { client } = fixture().service;
    const emoji = ['👍', '❤️', '🎉', '😄', '👀', '🤔', '👎', '✅', '🦊', '🌈', '🔥', '💡', '🎬', '🎵', '⭐'];
    let commentId: string | undefined;
    const taken = await measure(
      (projectId) => `/projects/${projectId}/comments`,
      async (id, sample) => {
        commentId ??= (await client.comments.create({ params: { id }, body: { content: 'Good.' } })).data.id;
        const [params, type] = [{ id: commentId }, emoji[sample] ?? ''];
        return { make: () => client.reactions.create({ params, body: { type } }), expression: shows(type) };
      },
    );
    report('a reaction', taken);
  });

  test('a status', async () => {
    const { client } = fixture().service;
    let versionId: string | undefined;
    const taken = await measure(
      (projectId) => `/projects/${projectId}/versions`,
      async (id, sample) => {
        versionId ??= (await client.versions.create({ params: { id }, body: { name: 'First cut' } })).data.id;
        const [params, isEven] = [{ id: versionId }, sample % 2 === 0];
        const status = isEven ? 'APPROVED' : 'NEED_EDIT';
        return {
          make: () => client.versions.setStatus({ params, body: { status } }),
          expression: shows(isEven ? 'Approved' : 'Needs edit'),
        };
      },
    );
    report('a status', taken);
  });

  test('a new file', async () => {
    const { client } = fixture().service;
    const taken = await measure(
      (projectId) => `/projects/${projectId}`,
      async (id, sample) => {
        const name = `board-${sample}.txt`;
        return {
          make: () => client.files.startUpload({ params: { id }, body: { name, size: 1 } }),
          // The middle of a long name is left out, so that its text is in two parts.
          expression: `document.querySelector('a[aria-label="${name}"]') !== null`,
        };
      },
    );
    report('a new file', taken);
  });

  test('progress', async () => {
    const { service } = fixture();
    const { client, projectId } = service;
    await using visit = await fixture().visit();
    await visit.openLive(`/runs?project=${projectId}`);
    const id = await service.generate('gpt-image-2', 'A lamp [slow]');
    await service.waitForRunning(id);
    const taken: number[] = [];
    for await (const event of client.events(projectId)) {
      if (event.type !== 'file.generation.progressed') continue;
      const bar = `document.querySelector('li:has(a[href="/runs/${id}"]) [role=progressbar]')`;
      const shown = await seen(
        visit.page,
        `Number(${bar}?.getAttribute('aria-valuenow')) >= ${event.data.progress * 100}`,
      );
      taken.push(Math.max(0, shown - instantOf(event.at)));
      if (taken.length === SAMPLES) break;
    }
    await client.files.cancel({ params: { id } });
    await until('the run is canceled', async () => (await service.file(id)).status === 'CANCELED');
    report('progress', taken);
  });
});
