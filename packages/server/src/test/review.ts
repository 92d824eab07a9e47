import { type Finished, runFile } from './server-process.ts';

/** Runs the built `review` command to its end. */
export const review = (settings: Record<string, string>, ...words: string[]): Promise<Finished> =>
  runFile('../dist/commands/main.js', settings, words).finished;

/** What a command answers with `--json`, which has to succeed. */
export async function reviewJson<Answer>(settings: Record<string, string>, ...words: string[]): Promise<Answer> {
  const { code, output, errors } = await review(settings, ...words, '--json');
  if (code !== 0) throw new Error(`review ${words.join(' ')} ended with ${code}: ${errors}`);
  return JSON.parse(output);
}
