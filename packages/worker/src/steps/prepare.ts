import { capBreaches, findModel, type GenerationTask, limitBreaches, type WorkerTask } from '@review/contract';
import { StepError } from '../step-error.ts';
import { familyOf, openTask, type StepContext } from './context.ts';

/** Repeats the API's checks and adds those of the provider, before anything is paid. */
export async function prepare(
  context: StepContext,
  { fileId, family, epoch }: GenerationTask,
): Promise<{ stages: string[] }> {
  const task = await openTask(context, { fileId, family, epoch }, () => true);
  const [breach] = limitBreaches(task);
  if (breach) throw new StepError('CONFIG_INVALID', `${breach.path.join('.')}: ${breach.message}`);
  const adapter = familyOf(context, task);
  checkCaps(task, adapter.provider);
  const gone = task.attachments.find(({ content }) => content === null);
  if (gone)
    throw new StepError('ATTACHMENT_UNREADABLE', `The attachment ${gone.id} can no longer be read. Attach it again.`);
  adapter.check(task);
  return { stages: adapter.stages(task) };
}

/** Checks the caps of the provider. The sandbox accepts all that the API allows. */
function checkCaps(task: WorkerTask, provider: 'live' | 'sandbox'): void {
  const model = findModel(task.outputModel);
  if (model === undefined || provider === 'sandbox') return;
  const [breach] = capBreaches(model, task);
  if (breach) throw new StepError('INVALID_INPUT', breach.message);
}
