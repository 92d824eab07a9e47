import type { GenerateRequest } from '@review/contract';
import { client } from '../api.ts';

export const MAX_OUTPUTS = 4;

/** Sends the same request several times. Throws the first refusal after all have been answered. */
export async function generateSeveral(
  project: string,
  request: GenerateRequest,
  outputs: number,
  onStarted: (id: string) => void,
): Promise<void> {
  const started = Array.from({ length: outputs }, async () => {
    const { data } = await client.generation.generate({ params: { id: project }, body: request });
    onStarted(data.id);
  });
  const refused = (await Promise.allSettled(started)).find((each) => each.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}
