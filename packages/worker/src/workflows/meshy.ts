import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const meshy = (task: GenerationTask): Promise<void> => runGeneration('meshy', task);
