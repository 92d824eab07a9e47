import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const gptImage = (task: GenerationTask): Promise<void> => runGeneration('gpt-image', task);
