import type { GenerationTask } from '@review/contract';
import { runGeneration } from './run-generation.ts';

export const hunyuan3d = (task: GenerationTask): Promise<void> => runGeneration('hunyuan3d', task);
