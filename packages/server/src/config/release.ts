import { readFileSync } from 'node:fs';

/** The version of this release, from its package.json. */
export function releaseVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL(import.meta.resolve('#package.json')), 'utf8'));
  return manifest.version;
}
