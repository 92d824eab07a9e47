import type { EventType } from '@review/contract';
import { newUuid } from '../../db/ids.ts';
import type { Database, Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import { findWorkspaceOf, insertAct } from './queries.ts';

/** Acts of operators, by the commands that they run. */
export type OperatorAct =
  | 'workspace.created'
  | 'user.added'
  | 'user.linked'
  | 'user.removed'
  | 'key.created'
  | 'key.revoked'
  | 'family.paused'
  | 'family.resumed'
  | 'worker.drained'
  | 'worker.resumed'
  | 'generation.canceled'
  | 'generation.requeued'
  | 'storage.collected'
  | 'backup.restored';

interface Done {
  act: OperatorAct;
  operator: string;
  workspaceId?: string | undefined;
  projectId?: string | undefined;
  /** The id or name of what was changed. */
  subjectId: string;
  /** What others need to understand the act. Never a secret. */
  data?: Record<string, unknown>;
}

/** Records what an operator has done by a command. */
export const recordCommand = (db: Database, { act, operator, workspaceId, projectId, subjectId, data = {} }: Done) =>
  insertAct(db, {
    id: newUuid(),
    at: now(),
    act,
    actor_id: null,
    operator,
    workspace_id: workspaceId ?? null,
    project_id: projectId ?? null,
    subject_id: subjectId,
    data: JSON.stringify(data),
  });

/** The changes of a project that are administrative. Their data have no secrets, because members read them as events. */
const AUDITED: ReadonlySet<EventType> = new Set<EventType>([
  'project.created',
  'project.deleting',
  'project.restored',
  'member.added',
  'member.changed',
  'member.removed',
  'link.created',
  'link.deleted',
  'link.redeemed',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
]);

interface Change {
  type: EventType;
  projectId: string;
  subjectId: string;
  data: object;
}

/** Records those changes of a person that are administrative. */
export async function recordChanges(trx: Writer, actorId: string, changes: readonly Change[]): Promise<void> {
  for (const { type, projectId, subjectId, data } of changes) {
    if (!AUDITED.has(type)) continue;
    const project = await findWorkspaceOf(trx, projectId);
    await insertAct(trx, {
      id: newUuid(),
      at: now(),
      act: type,
      actor_id: actorId,
      operator: null,
      workspace_id: project?.workspace_id ?? null,
      project_id: projectId,
      subject_id: subjectId,
      data: JSON.stringify(data),
    });
  }
}
