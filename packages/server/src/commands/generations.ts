import {
  FileId,
  GENERATION_STATUSES,
  type GenerationStatus,
  OPEN_GENERATION_STATUSES,
  type WaitingFor,
  workflowIdOf,
} from '@review/contract';
import type { Command } from 'commander';
import type { CommandSettings } from '../config/config.ts';
import { clockOf } from '../db/clock.ts';
import type { OpenDatabase } from '../db/database.ts';
import { parseJson } from '../db/json.ts';
import type { Database } from '../db/schema.ts';
import { inTransaction } from '../db/transaction.ts';
import { appendEvents } from '../rooms/events/outbox.ts';
import { cancelFile } from '../rooms/files/cancel.ts';
import { findWithPlace, listGenerations, requeue } from '../rooms/generation/operate.ts';
import { listSteps, type StoredGeneration } from '../rooms/generation/queries.ts';
import { toStepRecord } from '../rooms/generation/response.ts';
import type { PendingStep, TemporalClient } from '../rooms/generation/temporal-client.ts';
import { findWaitingReasons } from '../rooms/generation/waiting.ts';
import { recordAct } from './audit.ts';
import type { Data } from './data.ts';
import { existingWorkspace } from './existing-workspace.ts';
import { limitOf } from './limit.ts';
import { CommandError, type Output, table } from './output.ts';
import { familyNamed } from './providers.ts';

/** `generation list`, `show`, `cancel` and `requeue`. */
export function addGenerationCommands(review: Command, { withDatabase }: Data, output: Output): void {
  const generation = review.command('generation').description('generations, by the id of their file');
  generation
    .command('list')
    .description('list generations, the last queued first; by default those that have not ended')
    .option('--workspace <id>', 'only those of one workspace')
    .option('--family <family>', 'only those of one model family')
    .option('--status <status>', `one of ${GENERATION_STATUSES.join(', ')}`)
    .option('--limit <number>', 'how many, up to 1000', '50')
    .option('--before <file>', 'those queued before this one: the last one of the page before')
    .action((asked: ListOptions) =>
      withDatabase(async (opened, settings) => {
        const { db } = opened;
        const found = await listGenerations(db, {
          workspaceId: asked.workspace && (await existingWorkspace(db, asked.workspace)),
          family: asked.family === undefined ? undefined : familyNamed(asked.family),
          statuses: asked.status === undefined ? OPEN_GENERATION_STATUSES : [statusNamed(asked.status)],
          before: asked.before && (await getGeneration(db, asked.before)).file_id,
          limit: limitOf(asked.limit),
        });
        const reasons = await reasonsOf(opened, settings, found);
        const listed = found.map((row) => ({ ...toOutput(row), waitingFor: reasons.get(row.file_id) ?? null }));
        const rows = listed.map(({ id, workspaceId, model, status, waitingFor, worker, queuedAt, deadlineAt }) => [
          id,
          workspaceId,
          model,
          waitingFor === null ? status : `${status} (${waitingFor})`,
          worker ?? '-',
          queuedAt,
          deadlineAt ?? '-',
        ]);
        output.show(listed, table(['FILE', 'WORKSPACE', 'MODEL', 'STATUS', 'WORKER', 'QUEUED', 'DEADLINE'], rows));
      }),
    );

  generation
    .command('show')
    .description('show a generation: why it waits, its worker, its provider and job, its steps; never its prompt')
    .argument('<file>', 'the id of the file')
    .action((id: string) =>
      withDatabase(async (opened, settings) => {
        const { db } = opened;
        const row = await getGeneration(db, id);
        const waitingFor = (await reasonsOf(opened, settings, [row])).get(row.file_id) ?? null;
        const steps = (await listSteps(db, row.file_id)).map(toStepRecord);
        const pending = isOpen(row) && row.engine === 'temporal' ? await pendingSteps(settings, row, output) : null;
        const shown = {
          ...toOutput(row),
          name: row.file_name,
          project: { id: row.project_id, name: row.project_name },
          workspace: { id: row.workspace_id, name: row.workspace_name },
          waitingFor,
          state: describe(row, waitingFor, pending),
          workflow: row.engine === 'temporal' ? { id: workflowIdOf(row.file_id), pending } : null,
          submits: Object.entries(parseJson(row.stages)).map(([stage, { intents, job }]) => ({
            stage,
            reserved: intents,
            isAnswered: job !== null,
          })),
          error: parseJson(row.error),
          warnings: parseJson(row.warnings),
          steps,
        };
        output.show(shown, textOf(shown));
      }),
    );

  generation
    .command('cancel')
    .description('cancel a generation that has not ended, as its users can')
    .argument('<file>', 'the id of the file')
    .action((id: string) =>
      withDatabase(async ({ db }, settings) => {
        const row = await getGeneration(db, id);
        const isCanceled = await inTransaction(db, async (trx) => {
          const { events } = await cancelFile(trx, { id: row.file_id, project_id: row.project_id });
          if (events.length > 0) await recordAct(trx, { act: 'generation.canceled', ...placeOf(row) });
          await appendEvents(trx, null, events);
          return events.length > 0;
        });
        if (!isCanceled) throw hasEnded(await getGeneration(db, id));
        // Otherwise the workflow ends at its next step.
        if (row.engine === 'temporal') await onTemporal(settings, (temporal) => temporal.cancel(id)).catch(() => {});
        output.show({ id }, `The generation of ${id} is canceled.`);
      }),
    );

  generation
    .command('requeue')
    .description('take a generation from its worker or workflow and let another continue it; nothing is ordered twice')
    .argument('<file>', 'the id of the file')
    .action((id: string) =>
      withDatabase(async ({ db, dialect }, settings) => {
        const row = await getGeneration(db, id);
        if (!isOpen(row)) throw hasEnded(row);
        if (row.engine === null) throw new CommandError(`The generation of ${id} is queued: nothing has claimed it.`);
        // Before the row changes: the dispatcher would find the old workflow and start none.
        if (row.engine === 'temporal')
          await onTemporal(settings, (temporal) => temporal.terminate(id, 'requeued by an operator'));
        const now = clockOf(dialect)();
        await inTransaction(db, async (trx) => {
          if (!(await requeue(trx, { fileId: id, now }))) throw hasEnded(row);
          await recordAct(trx, { act: 'generation.requeued', ...placeOf(row), data: { worker: row.lease_owner } });
        });
        const where = row.status === 'RUNNING' ? 'It runs on as soon as a worker is free.' : 'It waits in the queue.';
        output.show({ id, worker: row.lease_owner }, `The generation of ${id} is requeued. ${where}`);
      }),
    );
}

interface ListOptions {
  workspace?: string;
  family?: string;
  status?: string;
  limit: string;
  before?: string;
}

const isOpen = ({ status }: StoredGeneration) => OPEN_GENERATION_STATUSES.includes(status);

const placeOf = (row: StoredGeneration & { project_id: string }) => ({
  workspaceId: row.workspace_id,
  projectId: row.project_id,
  subjectId: row.file_id,
});

const hasEnded = ({ file_id: id, status }: StoredGeneration) =>
  new CommandError(`The generation of ${id} has ended as ${status}, which is final. Generate the file again instead.`);

async function getGeneration(db: Database, id: string) {
  const row = await findWithPlace(db, FileId.safeParse(id).data ?? '');
  if (row === undefined) throw new CommandError(`There is no generation of a file ${id}.`);
  return row;
}

function statusNamed(text: string): GenerationStatus {
  const status = GENERATION_STATUSES.find((name) => name === text.toUpperCase());
  if (status === undefined) throw new CommandError(`--status: write one of ${GENERATION_STATUSES.join(', ')}`);
  return status;
}

const reasonsOf = ({ db, dialect }: OpenDatabase, config: CommandSettings, rows: StoredGeneration[]) =>
  findWaitingReasons({ db, clock: clockOf(dialect), config }, rows);

async function onTemporal<T>(
  { temporal: environment }: CommandSettings,
  call: (temporal: TemporalClient) => Promise<T>,
): Promise<T> {
  const { openTemporal } = await import('../rooms/generation/temporal-client.ts');
  const temporal = await openTemporal(environment);
  try {
    return await call(temporal);
  } catch (error) {
    throw new CommandError(`Temporal does not answer, and nothing was changed: ${error}`);
  } finally {
    await temporal.close();
  }
}

const pendingSteps = (settings: CommandSettings, { file_id: id }: StoredGeneration, output: Output) =>
  onTemporal(settings, (temporal) => temporal.findPendingSteps(id)).catch((error: Error) => {
    output.note(error.message);
    return null;
  });

const toOutput = (row: StoredGeneration) => ({
  id: row.file_id,
  workspaceId: row.workspace_id,
  family: row.family,
  model: row.output_model,
  status: row.status,
  progress: row.progress,
  engine: row.engine,
  /** Temporal alone knows the worker of a workflow. */
  worker: row.engine === 'embedded' ? row.lease_owner : null,
  leaseUntil: row.lease_until,
  provider: row.provider,
  promised: row.promised,
  providerJobId: row.provider_job_id,
  queuedAt: row.queued_at,
  startedAt: row.started_at,
  deadlineAt: row.deadline_at,
  finishedAt: row.finished_at,
});

type Shown = ReturnType<typeof toOutput>;

/** Says in a sentence what happens to the generation, and what to do if it waits. */
function describe(row: StoredGeneration, waitingFor: WaitingFor | null, pending: PendingStep[] | null): string {
  if (!isOpen(row)) return `It has ended as ${row.status}.`;
  if (waitingFor !== null) return WAITS[waitingFor](row);
  if (row.engine === null) return 'It is about to start.';
  if (row.engine === 'temporal') {
    const steps = (pending ?? []).map(({ name, attempt, worker }) => `${name} (attempt ${attempt}, ${worker ?? '-'})`);
    return `A workflow runs it${steps.length > 0 ? `: ${steps.join(', ')}` : ''}.`;
  }
  return row.lease_owner === null
    ? 'Its worker has released it, and the next free one continues it.'
    : `${row.lease_owner} holds it until ${row.lease_until}, and renews that while it is alive.`;
}

const WAITS: Record<WaitingFor, (row: StoredGeneration) => string> = {
  PAUSED: ({ family }) => `${family} is paused; \`review providers resume ${family}\` starts it again.`,
  WORKER: ({ family, promised }) =>
    `No living worker ${promised === 'live' ? `has the key of ${family}` : `can make ${family}`} and takes work; see \`review providers\` and \`review workers\`.`,
  SLOT: ({ output_type: type }) => `All slots of its workspace for ${type} are in use (GENERATION_SLOTS).`,
  FAMILY_CAP: ({ family }) => `All places of ${family} are in use (FAMILY_CAPS).`,
};

interface ShownInFull extends Shown {
  name: string;
  project: { id: string; name: string };
  workspace: { id: string; name: string };
  state: string;
  submits: { stage: string; reserved: number; isAnswered: boolean }[];
  error: { code: string; message: string } | null;
  warnings: string[];
  steps: ReturnType<typeof toStepRecord>[];
}

function textOf(shown: ShownInFull): string {
  const { project, workspace, error, steps } = shown;
  const submits = shown.submits.map(
    ({ stage, reserved, isAnswered }) => `${stage}: ${reserved} reserved, ${isAnswered ? 'answered' : 'no answer yet'}`,
  );
  const lines = Object.entries({
    file: `${shown.id} ${shown.name}`,
    project: `${project.id} ${project.name}`,
    workspace: `${workspace.id} ${workspace.name}`,
    model: `${shown.model} (${shown.family})`,
    status: `${shown.status}, ${Math.round(shown.progress * 100)} %`,
    state: shown.state,
    provider: shown.provider ?? `not chosen yet, ${shown.promised} was promised`,
    'provider job': shown.providerJobId ?? '-',
    submits: submits.join('; ') || '-',
    queued: shown.queuedAt,
    started: shown.startedAt ?? '-',
    deadline: shown.deadlineAt ?? '-',
    finished: shown.finishedAt ?? '-',
    error: error === null ? '-' : `${error.code}: ${error.message}`,
    warnings: shown.warnings.join('; ') || '-',
  }).map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`);
  const timeline = steps.map(({ name, attempt, outcome, startedAt, finishedAt, message }) => [
    name,
    String(attempt),
    outcome ?? 'RUNNING',
    startedAt,
    finishedAt ?? '-',
    message ?? '',
  ]);
  if (timeline.length === 0) return lines.join('\n');
  return [...lines, '', table(['STEP', 'ATTEMPT', 'OUTCOME', 'STARTED', 'FINISHED', 'MESSAGE'], timeline)].join('\n');
}
