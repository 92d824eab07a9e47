import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const minimax = (task: GenerationTask): Promise<void> => runGeneration('minimax', task);
