import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

const root = dirname(import.meta.dirname);

/** The path of the workflow bundle that the build writes. */
export const BUNDLE = join(root, 'workflow-bundle.js');

export const bundleWorkflows = () =>
  bundleWorkflowCode({
    workflowsPath: join(root, 'workflows', `index${extname(import.meta.filename)}`),
    logger: new DefaultLogger('WARN'),
  });

/** Returns the bundle of the build, or makes one where the worker runs from the sources. */
export const workflowBundle = async (): Promise<WorkflowBundleOption> =>
  existsSync(BUNDLE) ? { codePath: BUNDLE } : bundleWorkflows();
