import { writeFile } from 'node:fs/promises';
import { BUNDLE, bundleWorkflows } from './engines/workflow-bundle.ts';

// A part of the build: a worker that had to bundle when it starts would need three times as long for it.
const { code } = await bundleWorkflows();
await writeFile(BUNDLE, code);
