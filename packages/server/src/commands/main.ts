#!/usr/bin/env node
import { loadEnvironment } from '../config/config.ts';
import { setPrivateUmask } from '../storage/private-files.ts';
import { review } from './review.ts';

setPrivateUmask();
const shell = {
  loadEnvironment,
  stdout: (text: string) => process.stdout.write(text),
  stderr: (text: string) => process.stderr.write(text),
};
// Not awaited: chunks that a command loads import this file, and would wait for its end.
review(process.argv.slice(2), shell).then((code) => {
  process.exitCode = code;
});
