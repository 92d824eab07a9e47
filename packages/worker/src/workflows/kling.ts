import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const kling = (task: GenerationTask): Promise<void> => runGeneration('kling', task);
