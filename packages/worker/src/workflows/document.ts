import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const document = (task: GenerationTask): Promise<void> => runGeneration('document', task);
