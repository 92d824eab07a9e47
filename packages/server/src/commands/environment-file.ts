import { loadEnvironment } from '../config/config.ts';
import { CommandError } from './output.ts';

const OPTION = '--env-file';

/** Loads the settings file of --env-file or REVIEW_ENV_FILE, and returns the other arguments. */
export function takeEnvironmentFile(words: readonly string[]): string[] {
  const at = words.findIndex((word) => word === OPTION || word.startsWith(`${OPTION}=`));
  if (at === -1) {
    loadEnvironment();
    return [...words];
  }
  const isOneWord = words[at] !== OPTION;
  const file = isOneWord ? words[at]?.slice(OPTION.length + 1) : words[at + 1];
  if (!file) throw new CommandError(`${OPTION}: write the path of a settings file, such as /etc/review.env`);
  loadEnvironment(file);
  return words.toSpliced(at, isOneWord ? 1 : 2);
}
