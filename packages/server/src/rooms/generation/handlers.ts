import {
  type Contract,
  findModel,
  formatOf,
  type GenerateRequest,
  type Model,
  settingsInEffect,
} from '@review/contract';
import { traceparentOf } from '@review/tracing';
import { newId } from '../../db/ids.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import { findFilesOf, insertFile } from '../files/queries.ts';
import { requireFolder } from '../folders/handlers.ts';
import type { Handlers } from '../handler.ts';
import { findUploads } from '../uploads/queries.ts';
import { abilitiesOfAll } from '../workers/abilities.ts';
import { aliveSince } from '../workers/queries.ts';
import { findAdmission, insertGeneration, lockWorkspace } from './queries.ts';

export const generation = ({ config, clock, queueNotifier }: Deps): Handlers<Contract['generation']> => ({
  async generate({ caller, subject: project, body, write }) {
    const model = findModel(body.outputModel);
    if (model === undefined) throw new Error('The contract accepted a model that is not in the list of models.');
    // Before `write`, whose transaction other requests may share.
    const traceparent = traceparentOf() ?? null;
    const answer = await write(async (trx) => {
      if (body.folder !== null) await requireFolder(trx, project.id, body.folder.id);
      const attachmentIds = body.attachments.map((attachment) => attachment.id);
      await requireUsable(trx, project, attachmentIds);
      const { workspaceId } = caller;
      await lockWorkspace(trx, workspaceId);
      const { waiting, workers } = await findAdmission(trx, { workspaceId, aliveSince: aliveSince(clock) });
      const ability = abilitiesOfAll(workers, config.generation).get(model.family);
      if (!config.generation.sandbox && ability !== 'live') throw new ProblemError('MODEL_NOT_AVAILABLE');
      if (waiting >= config.generation.queueLimit) {
        throw new ProblemError('GENERATION_QUEUE_FULL', { headers: { 'Retry-After': '10' } });
      }
      const id = newId('FX');
      await insertFile(trx, {
        id,
        project_id: project.id,
        folder_id: body.folder?.id ?? null,
        name: nameFor(body.prompt, model),
        mode: 'GENERATED',
        status: 'GENERATING',
        output_type: model.outputType,
        created_by: caller.userId,
        created_at: now(),
      });
      const row = {
        file_id: id,
        workspace_id: workspaceId,
        family: model.family,
        output_type: model.outputType,
        output_model: model.id,
        prompt: body.prompt,
        configs: model.video && JSON.stringify(settingsInEffect(model.video, body.configs)),
        promised: ability === 'live' ? 'live' : 'sandbox',
        traceparent,
        queued_at: now(),
        deadline_at: clock(config.generation.queueDeadline),
      } as const;
      await insertGeneration(trx, row, attachmentIds);
      const [projectId, subjectId] = [project.id, id];
      return {
        answer: { data: { id } },
        events: [
          { type: 'file.created', projectId, subjectId, data: { mode: 'GENERATED', folder: body.folder } },
          { type: 'file.generation.queued', projectId, subjectId, data: { outputModel: model.id } },
        ],
      };
    });
    queueNotifier.notify();
    return answer;
  },
});

type Project = Parameters<typeof findFilesOf>[1];

/** Requires uploaded files or completed generation attachments of this project. */
async function requireUsable(trx: Writer, project: Project, ids: string[]): Promise<void> {
  const files = await findFilesOf(trx, project, ids);
  const uploads = await findUploads(
    trx,
    ids.filter((id) => id.startsWith('GA')),
  );
  const isKnown = (id: string) => files.has(id) || uploads.get(id)?.project_id === project.id;
  const isReady = (id: string) => files.get(id)?.status === 'UPLOADED' || uploads.get(id)?.completed_with != null;
  const pointersOf = (matches: (id: string) => boolean) =>
    ids.flatMap((id, index) => (matches(id) ? [`/attachments/${index}/id`] : []));
  const unknown = pointersOf((id) => !isKnown(id));
  if (unknown.length > 0) throw referenceNotFound(...unknown);
  const unready = pointersOf((id) => !isReady(id));
  if (unready.length > 0) {
    throw new ProblemError('ATTACHMENT_NOT_READY', {
      errors: unready.map((pointer) => ({
        pointer,
        code: 'ATTACHMENT_NOT_READY',
        message: 'The upload or generation of this attachment must be complete first.',
      })),
    });
  }
}

/** Makes a file name from the first words of the prompt. */
function nameFor(prompt: GenerateRequest['prompt'], model: Model): string {
  const words = prompt
    .replace(/<#[^<>]*>/g, ' ')
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu);
  const stem =
    Array.from((words ?? []).slice(0, 6).join('-'))
      .slice(0, 60)
      .join('') || 'untitled';
  return `${stem}.${formatOf(model).extension}`;
}
