// A workflow runs in a sandbox and is replayed: nothing but the pipeline, plain data and @temporalio/workflow may be imported from here.
import { runGeneration } from './run-generation.ts';

/** Temporal calls the default export for every workflow type: each family is a type of its own (`workflowTypeOf`). */
export default runGeneration;
