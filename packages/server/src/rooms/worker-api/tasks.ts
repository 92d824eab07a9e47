import type { WorkerTask } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Deps } from '../../deps.ts';
import { findStoredFiles } from '../files/queries.ts';
import { findGenerations, type StoredGeneration } from '../generation/queries.ts';
import { URL_SECONDS } from '../uploads/download.ts';
import { findUploads } from '../uploads/queries.ts';

/** Returns the tasks of these generations, by file. */
export async function findTasks(
  deps: Deps,
  fileIds: string[],
  base: string,
): Promise<Map<string, { generation: StoredGeneration; task: WorkerTask }>> {
  const generations = await findGenerations(deps.db, fileIds);
  const attached = [...generations.values()].flatMap(({ attachments }) => attachments);
  const content = await contentOf(deps, [...new Set(attached)], base);
  return new Map([...generations].map(([id, generation]) => [id, { generation, task: toTask(generation, content) }]));
}

type Content = NonNullable<WorkerTask['attachments'][number]['content']>;

const toTask = (
  generation: StoredGeneration & { attachments: string[] },
  content: ReadonlyMap<string, Content>,
): WorkerTask => ({
  fileId: generation.file_id,
  family: generation.family,
  status: generation.status,
  outputType: generation.output_type,
  outputModel: generation.output_model,
  prompt: generation.prompt,
  configs: parseJson(generation.configs),
  provider: generation.provider,
  attachments: generation.attachments.map((id) => ({ id, content: content.get(id) ?? null })),
  stages: parseJson(generation.stages),
  stored: generation.result !== null,
});

/** Returns presigned URLs of the attachments that still exist. */
async function contentOf(deps: Deps, ids: string[], base: string): Promise<Map<string, Content>> {
  const files = await findStoredFiles(deps.db, ids);
  const uploads = await findUploads(
    deps.db,
    ids.filter((id) => id.startsWith('GA')),
  );
  const found = new Map<string, Content>();
  for (const id of ids) {
    const { name, mime_type: mimeType, size, storage_key: key } = files.get(id) ?? uploads.get(id) ?? {};
    if (name === undefined || mimeType == null || size == null || key == null) continue;
    const url = await deps.storage.downloadUrl(key, { name, mimeType }, URL_SECONDS);
    found.set(id, { name, mimeType, size, url: rebaseUrl(deps, url, base) });
  }
  return found;
}

/** Replaces PUBLIC_URL by the address that the worker called, because a worker may not reach the public one. */
export const rebaseUrl = ({ config }: Deps, url: string, base: string): string =>
  url.startsWith(`${config.publicUrl}/`) ? base + url.slice(config.publicUrl.length) : url;
