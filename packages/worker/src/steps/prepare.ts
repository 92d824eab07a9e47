import { capBreaches, findModel, type GenerationTask, limitBreaches, type WorkerTask } from '@review/contract';
import { StepError } from '../step-error.ts';
import { familyOf, readOpenTask, type StepContext } from './context.ts';

/** Checks what the API has checked before, and what only a provider would refuse: nothing is paid yet. */
export async function prepare(
  context: StepContext,
  { fileId, family, epoch }: GenerationTask,
): Promise<{ stages: string[] }> {
  const task = await readOpenTask(context, { fileId, family, epoch });
  const [breach] = limitBreaches(task);
  if (breach) throw new StepError('CONFIG_INVALID', `${breach.path.join('.')}: ${breach.message}`);
  const adapter = familyOf(context, task);
  checkCaps(task, adapter.provider);
  const gone = task.attachments.find(({ content }) => content === null);
  if (gone) throw new StepError('ATTACHMENT_UNREADABLE', `The attachment ${gone.id} can no longer be read.`);
  adapter.check(task);
  return { stages: adapter.stages(task) };
}

/** A vendor's caps hold for the vendor; the sandbox takes whatever the interface allows. */
function checkCaps(task: WorkerTask, provider: 'live' | 'sandbox'): void {
  const model = findModel(task.outputModel);
  if (model === undefined || provider === 'sandbox') return;
  const [breach] = capBreaches(model, task);
  if (breach) throw new StepError('INVALID_INPUT', breach.message);
}
