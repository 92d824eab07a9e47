// Workflows run in a sandbox and are replayed: import only the pipeline, plain data and @temporalio/workflow here.
import { runGeneration } from './run-generation.ts';

export { deliverWebhook } from './deliver-webhook.ts';
export { readMedia } from './read-media.ts';

/** Temporal calls the default export for every other workflow type; each family has its own type (`workflowTypeOf`). */
export default runGeneration;
