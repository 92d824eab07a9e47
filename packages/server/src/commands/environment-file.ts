import { CommandError } from './output.ts';

const OPTION = '--env-file';

/** Splits the arguments into the settings file of --env-file, if any, and the others. */
export function takeEnvironmentFile(words: readonly string[]): { file: string | undefined; rest: string[] } {
  const at = words.findIndex((word) => word === OPTION || word.startsWith(`${OPTION}=`));
  if (at === -1) return { file: undefined, rest: [...words] };
  const isOneWord = words[at] !== OPTION;
  const file = isOneWord ? words[at]?.slice(OPTION.length + 1) : words[at + 1];
  if (!file) throw new CommandError(`${OPTION}: write the path of a settings file, such as /etc/review.env`);
  return { file, rest: words.toSpliced(at, isOneWord ? 1 : 2) };
}
