import { contract, type GenerateRequest, type ProjectRole } from '@review/contract';
import { useMutation } from '@tanstack/react-query';
import { client } from '../api.ts';
import { useRefusal } from '../session/access.ts';
import type { Run } from './runs-query.ts';

/** Link parameters that open the Generate page with the inputs of this run. */
export const againSearch = ({ project, folder, generation }: Run) => ({
  project: project.id,
  type: generation.outputType,
  model: generation.outputModel,
  ...(generation.prompt !== null && { prompt: generation.prompt }),
  ...(folder !== null && { folder: folder.id }),
  ...(generation.attachments.length > 0 && { attachments: generation.attachments.map(({ id }) => id) }),
  ...(generation.configs !== null && { configs: generation.configs }),
});

const requestOf = ({ folder, generation }: Run): GenerateRequest => ({
  outputType: generation.outputType,
  outputModel: generation.outputModel,
  prompt: generation.prompt ?? '',
  folder,
  attachments: generation.attachments,
  ...(generation.configs !== null && { configs: generation.configs }),
});

/** Sends the request of a run once more. */
export function useRetry(run: Run, role: ProjectRole | undefined, onRetried: (id: string) => void) {
  const refusal = useRefusal();
  const retry = useMutation({
    mutationFn: () => client.generation.generate({ params: { id: run.project.id }, body: requestOf(run) }),
    onSuccess: ({ data }) => onRetried(data.id),
  });
  return { ...retry, refusal: refusal(contract.generation.generate, role) };
}
