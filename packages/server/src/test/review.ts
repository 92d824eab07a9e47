import { type Finished, runFile } from './server-process.ts';

/** Runs the built `review` command until it exits. */
export const review = (settings: Record<string, string>, ...words: string[]): Promise<Finished> =>
  runFile('../dist/commands/main.js', settings, words).finished;

/** Returns the output of a command with `--json`; the command must succeed. */
export async function reviewJson<Answer>(settings: Record<string, string>, ...words: string[]): Promise<Answer> {
  const { code, output, errors } = await review(settings, ...words, '--json');
  if (code !== 0) throw new Error(`review ${words.join(' ')} ended with ${code}: ${errors}`);
  return JSON.parse(output);
}
