/**
 * Generates five videos concurrently and downloads them.
 *
 *   REVIEW_URL=... REVIEW_TOKEN=... REVIEW_PROJECT=... node five-videos.ts [folder]
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { download, GenerationFailed, generate } from '@review/client';
import { client, project } from './environment.ts';

const folder = process.argv[2] ?? 'videos';
const prompts = [
  'A slow pan over a foggy harbour',
  'The same harbour at noon, gulls above',
  'Rain on the quay, lamps lit early',
  'A trawler leaves at dawn',
  'The empty pier at night',
];

async function makeVideo(prompt: string, index: number): Promise<string> {
  const file = await generate(client, {
    project,
    outputType: 'VIDEO',
    outputModel: 'seedance-2.0-mini',
    prompt,
    configs: { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' },
    onProgress: ({ status, progress }) => console.log(`${index + 1}: ${status} ${Math.round(progress * 100)} %`),
  });
  const path = join(folder, `${index + 1}-${file.name}`);
  await download(client, file.id, { to: path });
  return path;
}

await mkdir(folder, { recursive: true });
const outcomes = await Promise.allSettled(prompts.map(makeVideo));
for (const [index, outcome] of outcomes.entries()) {
  if (outcome.status === 'fulfilled') {
    console.log(outcome.value);
    continue;
  }
  process.exitCode = 1;
  const { reason } = outcome;
  const again = reason instanceof GenerationFailed && reason.error?.retryable ? ' Try again later.' : '';
  console.error(`${index + 1}: ${reason instanceof Error ? reason.message : reason}${again}`);
}
