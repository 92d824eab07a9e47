import { type MediaFacts, pixelsOf, type VideoSettings } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { findGeneration, setWarnings } from '../generation/queries.ts';

/** Providers round to whole frames, and some add a few. */
const MAX_DURATION_DIFFERENCE_MS = 500;

/** Returns how a generated video differs from what was ordered. */
export function differencesFrom(
  { durationSeconds, resolution, aspectRatio }: VideoSettings,
  { durationMs, width, height }: Pick<MediaFacts, 'durationMs' | 'width' | 'height'>,
): string[] {
  const differences: string[] = [];
  if (durationMs !== null && Math.abs(durationMs - durationSeconds * 1000) > MAX_DURATION_DIFFERENCE_MS) {
    const seconds = Math.round(durationMs / 100) / 10;
    differences.push(`The video is ${seconds} seconds long instead of the ordered ${durationSeconds} seconds.`);
  }
  const ordered = pixelsOf(resolution, aspectRatio);
  if (width !== null && height !== null && Math.min(width, height) < Math.min(ordered.width, ordered.height) * 0.9) {
    differences.push(
      `The video has ${width} x ${height} pixels instead of the ordered ${ordered.width} x ${ordered.height}.`,
    );
  }
  return differences;
}

/** Adds a warning to the generation of a file for each difference between its content and what was ordered. */
export async function warnAboutDifferences(trx: Writer, fileId: string, facts: MediaFacts): Promise<void> {
  const generation = await findGeneration(trx, fileId);
  const ordered = generation && parseJson(generation.configs);
  if (!generation || !ordered) return;
  const known = parseJson(generation.warnings);
  const added = differencesFrom(ordered, facts).filter((difference) => !known.includes(difference));
  if (added.length > 0) await setWarnings(trx, { fileId, warnings: [...known, ...added] });
}
