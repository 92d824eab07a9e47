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

/** The Tasks extension (SEP-2663): a call that goes on is answered with a handle, which is the id of the file. */
export const TASKS = 'io.modelcontextprotocol/tasks';
export const TaskParams = z.looseObject({ taskId: z.string() });

const POLL_MS = 2000;
const Envelope = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({ extensions: z.object({ [TASKS]: z.object({}) }) }),
});

/** Clients say with every request what they can. */
export const followsTasks = ({ mcpReq }: ServerContext): boolean => Envelope.safeParse(mcpReq.envelope).success;

const Created = created(FileId);
const GotFile = z.object({ data: FileRecordSchema });

/** What Generate File answers: a task where the client and its scopes can follow one, else how to follow the file itself. */
export async function generationResult(
  deps: Deps,
  toolRequest: ToolRequest,
  operations: Operations,
  answer: unknown,
  client: ServerContext,
  era: Era,
) {
  const { id } = Created.parse(answer).data;
  if (followsTasks(client) && operations.hasScope('files.get', toolRequest.caller)) {
    // The generation is under way: whatever fails now, the caller must learn its id and not ask for another one.
    const file = await readFile(deps, toolRequest, operations, id).catch(() => null);
    if (file !== null) return { ...taskOf(file), resultType: 'task', content: [] };
  }
  const { content, ...result } = toolResult(answer, era);
  const hint = `${id} is being generated. Call get_file with this id and wait 50, again until its status is final.`;
  return { ...result, content: [...content, { type: 'text' as const, text: hint }] };
}

/** A task as it is now, with its result once there is one. */
export async function getTask(deps: Deps, toolRequest: ToolRequest, operations: Operations, taskId: string) {
  await requireTask(deps, toolRequest, taskId);
  const file = await readFile(deps, toolRequest, operations, taskId);
  const result = finalResult(file);
  return { ...taskOf(file), ...(result !== undefined && { result: { ...result, resultType: 'complete' } }) };
}

/** Asks for the end; a generation that has ended already stays as it is. */
export async function cancelTask(deps: Deps, toolRequest: ToolRequest, operations: Operations, taskId: string) {
  await requireTask(deps, toolRequest, taskId);
  await run(deps, toolRequest, operations.get('files.cancel'), { id: taskId }).catch((error: unknown) => {
    if (!(error instanceof ProblemError) || error.code !== 'FILE_NOT_CANCELABLE') throw error;
  });
  return {};
}

/** Nothing is ever asked of the client while a file is generated: whatever it sends is acknowledged. */
export async function updateTask(deps: Deps, toolRequest: ToolRequest, taskId: string) {
  await requireTask(deps, toolRequest, taskId);
  return {};
}

async function requireTask({ db }: Deps, { caller }: ToolRequest, taskId: string): Promise<void> {
  const file = FileId.safeParse(taskId).success ? await findVisibleFile(db, caller, taskId) : undefined;
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
  // A file stays until somebody deletes it.
  ttlMs: null,
  pollIntervalMs: POLL_MS,
});

const progressOf = ({ status, progress }: NonNullable<FileRecord['generation']>) =>
  status === 'RUNNING' ? `RUNNING, ${Math.round(progress * 100)} %` : status;

/** That a generation failed is a result like any other: the call itself went well. */
function finalResult({ id, name, status, mimeType, generation }: FileRecord) {
  if (status === 'FAILED')
    return failedResult({ code: 'INTERNAL', message: 'The generation failed.', ...generation?.error });
  if (status !== 'UPLOADED') return undefined;
  const { content, ...result } = toolResult({ data: { id } }, 'modern');
  const link = { type: 'resource_link' as const, uri: fileUri(id), name, ...(mimeType !== null && { mimeType }) };
  return { ...result, content: [...content, link] };
}

const iso = (time: z.infer<typeof Timestamp>) => `${time.replace(' ', 'T')}Z`;
