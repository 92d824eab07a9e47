import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { closeSandbox, renderSandbox } from './render.ts';
import { PROMPT, requestOf, workshop } from './test/requests.ts';

const { folder, newPath, make } = await workshop();
const LONG = { resolution: '1080p', aspectRatio: '16:9', durationSeconds: 15 };
const leftovers = async () => (await readdir(folder)).filter((name) => name.endsWith('.part'));

/** The ids of the processes that this one has started. */
const renderers = async () =>
  (await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')).split(' ').filter(Boolean);

// Retried, because a busy machine can stall the whole process.
it('keeps the event loop free while it renders a video, and reports progress', { retry: 2 }, async () => {
  await make(requestOf('markdown'));
  const seen: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await renderSandbox(requestOf('veo-3.1-generate-preview'), newPath(), { onProgress: (part) => seen.push(part) });
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(200);
  expect(seen.length).toBeGreaterThan(20);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(seen[0]).toBeLessThan(0.1);
  expect(seen.at(-1)).toBe(1);
});

it('ends soon after an abort and leaves no file', async () => {
  const reason = new Error('not wanted');
  const stop = new AbortController();
  const path = newPath();
  const started = Promise.withResolvers<void>();
  const made = renderSandbox(requestOf('seedance-2.5', PROMPT, LONG), path, {
    signal: stop.signal,
    onProgress: () => started.resolve(),
  });
  await started.promise;
  const from = performance.now();
  stop.abort(reason);
  await expect(made).rejects.toBe(reason);
  expect(performance.now() - from).toBeLessThan(2000);
  await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await leftovers()).toEqual([]);
  await make(requestOf('markdown'));
});

it('rejects waiting jobs at once on abort', async () => {
  const busy = new AbortController();
  const long = [1, 2].map(() =>
    renderSandbox(requestOf('seedance-2.5', PROMPT, LONG), newPath(), { signal: busy.signal }),
  );
  const stop = new AbortController();
  const waiting = renderSandbox(requestOf('markdown'), newPath(), { signal: stop.signal });
  await sleep(20);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  await expect(renderSandbox(requestOf('markdown'), newPath(), { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: 'AbortError',
  });
  busy.abort();
  expect(await Promise.allSettled(long)).toMatchObject([1, 2].map(() => ({ reason: { name: 'AbortError' } })));
  expect(await leftovers()).toEqual([]);
});

it('renders many files concurrently', async () => {
  const prompts = Array.from({ length: 12 }, (_, index) => `Prompt number ${index}`);
  const made = await Promise.all(prompts.map((prompt) => make(requestOf('markdown', prompt))));
  for (const [index, { path }] of made.entries()) expect(await readFile(path, 'utf8')).toContain(prompts[index]);
});

it.runIf(process.platform === 'linux')('keeps a rendering process, until it holds much memory', async () => {
  await closeSandbox();
  await make(requestOf('markdown'));
  const [first] = await renderers();
  for (let job = 0; job < 30; job++) await make(requestOf('markdown'));
  expect(await renderers()).toEqual([first]);
  await make({ ...requestOf('gpt-image-2'), references: [{ name: 'x'.repeat(150_000_000) }] });
  await make(requestOf('markdown'));
  expect(await renderers()).not.toContain(first);
});

it('replaces an existing file', async () => {
  const path = newPath();
  await writeFile(path, 'old');
  await renderSandbox(requestOf('markdown'), path);
  expect(await readFile(path, 'utf8')).toContain(PROMPT);
});

it('refuses unknown combinations and missing folders', async () => {
  const wrong = { ...requestOf('pdf'), outputType: 'IMAGE' as const };
  await expect(renderSandbox(wrong, newPath())).rejects.toThrow('pdf does not make IMAGE');
  const unset = { ...requestOf('kling-3.0'), settings: null };
  await expect(renderSandbox(unset, newPath())).rejects.toThrow('needs its settings');
  const lost = join(folder, 'missing', 'file');
  for (const model of ['markdown', 'meshy-7', 'seedance-2.0-mini']) {
    await expect(renderSandbox(requestOf(model), lost)).rejects.toThrow('ENOENT');
  }
});

it('works again after a close, which rejects pending jobs', async () => {
  const under = renderSandbox(requestOf('seedance-2.5', PROMPT, LONG), newPath());
  const refused = expect(under).rejects.toThrow();
  await sleep(100);
  await closeSandbox();
  await refused;
  expect(await leftovers()).toEqual([]);
  expect((await make(requestOf('markdown'))).size).toBeGreaterThan(500);
});

it('does not keep an idle process alive', () => {
  const script = `
    import { renderSandbox } from ${JSON.stringify(new URL('./render.ts', import.meta.url).href)};
    const made = await renderSandbox(${JSON.stringify(requestOf('gpt-image-2'))}, ${JSON.stringify(newPath())});
    console.log(made.mimeType);`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect({ stdout, stderr, status }).toEqual({ stdout: 'image/png\n', stderr: '', status: 0 });
});
