#!/usr/bin/env node
import { loadEnvironment } from '../config/config.ts';
import { setPrivateUmask } from '../storage/private-files.ts';
import { review } from './review.ts';

setPrivateUmask();
process.exitCode = await review(process.argv.slice(2), {
  loadEnvironment,
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
