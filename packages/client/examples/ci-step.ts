/**
 * A build step: uploads an artefact, creates a version of it, waits for the review, and fails if it is rejected.
 *
 *   REVIEW_URL=... REVIEW_TOKEN=... REVIEW_PROJECT=... node ci-step.ts <artefact> <version name>
 *
 * REVIEW_MINUTES is the maximum wait (default 30). A repeated step resumes where the last one stopped.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type UploadState, upload } from '@review/client';
import { client, project } from './environment.ts';

const [artefact, name] = process.argv.slice(2);
if (artefact === undefined || name === undefined) {
  console.error('Usage: ci-step.ts <artefact> <version name>');
  process.exit(2);
}
const minutes = Number(process.env['REVIEW_MINUTES'] ?? 30);
const stateFile = `${artefact}.upload.json`;

async function readState(): Promise<UploadState | undefined> {
  const text = await readFile(stateFile, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

async function writeState(state: UploadState): Promise<void> {
  await writeFile(`${stateFile}.new`, JSON.stringify(state));
  await rename(`${stateFile}.new`, stateFile);
}

const resume = await readState();
const file = await upload(client, {
  to: { project },
  source: artefact,
  ...(resume && { resume }),
  onState: writeState,
  onProgress: (sent, total) => console.log(`sent ${Math.round((100 * sent) / total)} %`),
});
const { data: version } = await client.versions.create(
  { params: { id: project }, body: { name, description: 'Made by the build.', files: [file] } },
  // A repeated step with the same file creates no second version.
  { idempotencyKey: `ci-step ${file.id}` },
);
console.log(`version ${version.id} waits for review`);

const deadline = Date.now() + minutes * 60_000;
for (;;) {
  const { data } = await client.versions.get({ params: { id: version.id } });
  if (data.status === 'APPROVED') break;
  if (data.status === 'REJECTED' || data.status === 'CLOSED') {
    console.error(`"${name}" was ${data.status}.`);
    process.exit(1);
  }
  if (Date.now() > deadline) {
    console.error(`"${name}" is still ${data.status} after ${minutes} minutes.`);
    process.exit(3);
  }
  await sleep(Math.min(5000, Math.max(100, deadline - Date.now())));
}
await rm(stateFile, { force: true });
const { data: content } = await client.files.download({ params: file });
console.log(`"${name}" is APPROVED: ${content.url}`);
