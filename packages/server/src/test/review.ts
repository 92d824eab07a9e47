import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { loadSettingsFile } from '@review/contract/settings';
import { review as runCommand } from '../commands/review.ts';
import { type Finished, runProgram } from './server-process.ts';

type Settings = Record<string, string>;

/** Runs the built `review` command as a process. */
export const reviewProcess = (settings: Settings, ...words: string[]): Promise<Finished> =>
  runProgram('commands/main.js', settings, words).finished;

/** Runs a `review` command in this process, with these settings only; a process would take longer to start. */
export async function review(settings: Settings, ...words: string[]): Promise<Finished> {
  const folder = mkdtempSync(join(tmpdir(), 'review-command-'));
  const finished = { code: 0, output: '', errors: '' };
  try {
    finished.code = await runCommand(words, {
      loadEnvironment(file = settings['REVIEW_ENV_FILE']) {
        let loaded: NodeJS.Dict<string> = {};
        loadSettingsFile(file, (path) => {
          loaded = parseEnv(readFileSync(path, 'utf8'));
        });
        return { DATA_DIR: folder, CONSOLE_DIR: 'off', RATE_LIMITS: 'off', ...loaded, ...settings };
      },
      stdout(text) {
        finished.output += text;
      },
      stderr(text) {
        finished.errors += text;
      },
    });
    return finished;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the output of a command with `--json`; the command must succeed. */
export async function reviewJson<Answer>(settings: Settings, ...words: string[]): Promise<Answer> {
  const { code, output, errors } = await review(settings, ...words, '--json');
  if (code !== 0) throw new Error(`review ${words.join(' ')} ended with ${code}: ${errors}`);
  return JSON.parse(output);
}
