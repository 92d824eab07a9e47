// Workflows run in a sandbox and are replayed: import only the pipeline, plain data and @temporalio/workflow here.
export { document } from './document.ts';
export { geminiImage } from './gemini-image.ts';
export { gptImage } from './gpt-image.ts';
export { hunyuan3d } from './hunyuan3d.ts';
export { kling } from './kling.ts';
export { meshy } from './meshy.ts';
export { minimax } from './minimax.ts';
export { seedance } from './seedance.ts';
export { veo } from './veo.ts';
