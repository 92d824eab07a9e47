import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const veo = (task: GenerationTask): Promise<void> => runGeneration('veo', task);
