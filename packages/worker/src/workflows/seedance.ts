import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const seedance = (task: GenerationTask): Promise<void> => runGeneration('seedance', task);
