import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { created, FileId, type FileRecord, FileRecord as FileRecordSchema, type Timestamp } from '@review/contract';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { findVisibleFile } from '../rooms/files/queries.ts';
import type { Operations } from './operations.ts';
import { fileUri } from './resource-kinds.ts';
import { type Era, failedResult, toolResult } from './results.ts';
import { run, type ToolRequest } from './run.ts';

/** The Tasks extension (SEP-2663). The id of a task is the id of the generated file. */
export const TASKS = 'io.modelcontextprotocol/tasks';
export const TaskParams = z.looseObject({ taskId: z.string() });

const POLL_INTERVAL_MS = 2000;
const Envelope = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({ extensions: z.object({ [TASKS]: z.object({}) }) }),
});

/** Whether the client supports tasks. Clients send their capabilities with every request. */
export const supportsTasks = ({ mcpReq }: ServerContext): boolean => Envelope.safeParse(mcpReq.envelope).success;

const Created = created(FileId);
const GotFile = z.object({ data: FileRecordSchema });

/** The result of Generate File: a task if the client supports tasks and may read files, else a hint to poll the file. */
export async function generationResult(
  deps: Deps,
  toolRequest: ToolRequest,
  operations: Operations,
  answer: unknown,
  client: ServerContext,
  era: Era,
) {
  const { id } = Created.parse(answer).data;
  if (supportsTasks(client) && operations.hasScope('files.get', toolRequest.caller)) {
    // The generation has started: even if this read fails, the caller must get its id and not start another one.
    const file = await readFile(deps, toolRequest, operations, id).catch(() => null);
    if (file !== null) return { ...taskOf(file), resultType: 'task', content: [] };
  }
  const { content, ...result } = toolResult(answer, era);
  const hint = `${id} is being generated. Call get_file with this id and wait 50 until its status is final.`;
  return { ...result, content: [...content, { type: 'text' as const, text: hint }] };
}

/** Returns the state of a task, with its result once it is complete. */
export async function getTask(deps: Deps, toolRequest: ToolRequest, operations: Operations, taskId: string) {
  await requireTask(deps, toolRequest, taskId);
  const file = await readFile(deps, toolRequest, operations, taskId);
  const result = finalResult(file);
  return { ...taskOf(file), ...(result !== undefined && { result: { ...result, resultType: 'complete' } }) };
}

/** Cancels the generation. Does nothing if it has ended. */
export async function cancelTask(deps: Deps, toolRequest: ToolRequest, operations: Operations, taskId: string) {
  await requireTask(deps, toolRequest, taskId);
  await run(deps, toolRequest, operations.get('files.cancel'), { id: taskId }).catch((error: unknown) => {
    if (!(error instanceof ProblemError) || error.code !== 'FILE_NOT_CANCELABLE') throw error;
  });
  return {};
}

/** Acknowledges the update and ignores its content: a generation never requests input. */
export async function updateTask(deps: Deps, toolRequest: ToolRequest, taskId: string) {
  await requireTask(deps, toolRequest, taskId);
  return {};
}

async function requireTask({ db }: Deps, { caller }: ToolRequest, taskId: string): Promise<void> {
  const file = FileId.safeParse(taskId).success ? await findVisibleFile(db, { ...caller, id: taskId }) : undefined;
  if (file?.mode !== 'GENERATED') throw new ProblemError('NOT_FOUND');
}

const readFile = async (
  deps: Deps,
  toolRequest: ToolRequest,
  operations: Operations,
  id: string,
): Promise<FileRecord> => GotFile.parse(await run(deps, toolRequest, operations.get('files.get'), { id })).data;

const STATUSES = {
  UPLOADING: 'working',
  GENERATING: 'working',
  UPLOADED: 'completed',
  FAILED: 'completed',
  CANCELED: 'cancelled',
} as const;

const taskOf = ({ id, status, createdAt, updatedAt, generation }: FileRecord) => ({
  taskId: id,
  status: STATUSES[status],
  ...(generation !== null && { statusMessage: progressOf(generation) }),
  createdAt: iso(createdAt),
  lastUpdatedAt: iso(updatedAt),
  // Files do not expire.
  ttlMs: null,
  pollIntervalMs: POLL_INTERVAL_MS,
});

const progressOf = ({ status, progress }: NonNullable<FileRecord['generation']>) =>
  status === 'RUNNING' ? `RUNNING, ${Math.round(progress * 100)} %` : status;

/** Undefined until the generation has ended. A failed generation is a result with `isError`, not a failed task. */
function finalResult({ id, name, status, mimeType, generation }: FileRecord) {
  if (status === 'FAILED')
    return failedResult({ code: 'INTERNAL', message: 'The generation failed.', ...generation?.error });
  if (status !== 'UPLOADED') return undefined;
  const { content, ...result } = toolResult({ data: { id } }, 'modern');
  const link = { type: 'resource_link' as const, uri: fileUri(id), name, ...(mimeType !== null && { mimeType }) };
  return { ...result, content: [...content, link] };
}

const iso = (time: z.infer<typeof Timestamp>) => `${time.replace(' ', 'T')}Z`;
