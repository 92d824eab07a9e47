import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findModel, MODELS, type OutputType, settingsInEffect, type VideoConfigs } from '@review/contract';
import { afterAll } from 'vitest';
import { closeSandbox, renderSandbox, type SandboxRequest } from '../render.ts';

export const PROMPT = 'A slow pan over a misty harbour at dawn';

export function requestOf(outputModel: string, prompt = PROMPT, configs: VideoConfigs = {}): SandboxRequest {
  const model = findModel(outputModel);
  if (!model) throw new Error(`There is no model ${outputModel}.`);
  const settings = model.video && settingsInEffect(model.video, configs);
  return { outputType: model.outputType, outputModel, prompt, settings, references: [{ name: 'harbour brief.pdf' }] };
}

export const modelsOf = (type: OutputType): string[] =>
  MODELS.filter(({ outputType }) => outputType === type).map(({ id }) => id);

export type Workshop = Awaited<ReturnType<typeof workshop>>;

/** Creates a folder that is removed after the tests, and closes the renderers. */
export async function workshop() {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  afterAll(async () => {
    await closeSandbox();
    await rm(folder, { recursive: true, force: true });
  });
  let files = 0;
  const newPath = () => join(folder, `file-${++files}`);
  return {
    folder,
    newPath,
    make: async (request: SandboxRequest) => {
      const path = newPath();
      return { path, ...(await renderSandbox(request, path)) };
    },
  };
}

export const HOSTILE: [name: string, prompt: string][] = [
  ['emoji', 'A 👩‍👩‍👧‍👦 family 🏳️‍🌈 and 🇬🇷 flags 😀'.repeat(3)],
  ['right to left', 'مرحبا بالعالم שלום עולם mixed with English \u202Eand overrides\u202C'],
  ['scripts without glyphs', '日本語の港 ไทย ᚠᛇᚻ'],
  ['5000 characters', 'harbour dawn '.repeat(385).slice(0, 5000)],
  ['one word of 5000 characters', 'x'.repeat(5000)],
  [
    'markdown',
    '# Not a title\n\n```\n~~~~\n> quote\n[link](javascript:alert(1)) ![i](file:///etc/passwd) | a | b |\n|--|',
  ],
  ['html', '</code></pre><script>alert(1)</script><img src=x onerror=alert(1)>&lt;&amp;'],
  ['svg', '"/></svg><svg onload="alert(1)"><image href="http://127.0.0.1:1/x"/><!--]]>&xxe;'],
  ['control characters', '\u0001\u0007\b\t\r\nbell\u001B[31m\u007F\u0085\u2028 end'],
  ['half of a pair', 'lost \uD83D half'],
  ['a lone token', '<#FX7K3M9Q2W5R8T1V4Y6Z0B>'],
  ['nothing to read', '\u200B\u200B \u0001'],
];
