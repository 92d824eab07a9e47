import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

const root = dirname(import.meta.dirname);

/** Where the build leaves the workflows, ready to load. */
export const BUNDLE = join(root, 'workflow-bundle.js');

export const bundleWorkflows = () =>
  bundleWorkflowCode({
    workflowsPath: join(root, 'workflows', `index${extname(import.meta.filename)}`),
    logger: new DefaultLogger('WARN'),
  });

/** Run from the sources, there was no build that left one. */
export const workflowBundle = async (): Promise<WorkflowBundleOption> =>
  existsSync(BUNDLE) ? { codePath: BUNDLE } : bundleWorkflows();
