import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const geminiImage = (task: GenerationTask): Promise<void> => runGeneration('gemini-image', task);
