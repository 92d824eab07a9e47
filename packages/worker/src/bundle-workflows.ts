import { writeFile } from 'node:fs/promises';
import { BUNDLE, bundleWorkflows } from './engines/workflow-bundle.ts';

// Runs as a part of the build: bundling at start-up would triple the worker's start time.
const { code } = await bundleWorkflows();
await writeFile(BUNDLE, code);
