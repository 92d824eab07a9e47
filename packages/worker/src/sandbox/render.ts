import { randomUUID } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { closeRenderers, renderInProcess } from './pool.ts';
import { type FileFormat, formatOf, mediumOf, type SandboxRequest } from './request.ts';

export type { SandboxRequest } from './request.ts';

/** Renders a real file instead of a vendor's; deterministic for model, prompt and settings. */
export async function renderSandbox(
  request: SandboxRequest,
  path: string,
  options: { onProgress?: (fraction: number) => void; signal?: AbortSignal } = {},
): Promise<FileFormat & { size: number }> {
  const format = formatOf(mediumOf(request));
  const part = `${path}.${randomUUID()}.part`;
  const onProgress = options.onProgress ?? (() => {});
  try {
    await renderInProcess(request, part, onProgress, options.signal);
    options.signal?.throwIfAborted();
    const { size } = await stat(part);
    await rename(part, path);
    onProgress(1);
    return { ...format, size };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Ends the rendering processes and rejects pending jobs. */
export const closeSandbox = closeRenderers;
