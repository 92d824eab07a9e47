import { loadEnvironment } from '../config/config.ts';
import { CommandError } from './output.ts';

const OPTION = '--env-file';

/** Loads the settings of the file that --env-file names, anywhere on the line, or REVIEW_ENV_FILE; gives the other words. */
export function takeEnvironmentFile(words: readonly string[]): string[] {
  const at = words.findIndex((word) => word === OPTION || word.startsWith(`${OPTION}=`));
  if (at === -1) {
    loadEnvironment();
    return [...words];
  }
  const isOneWord = words[at] !== OPTION;
  const file = isOneWord ? words[at]?.slice(OPTION.length + 1) : words[at + 1];
  if (!file) throw new CommandError(`${OPTION}: name a file with settings, such as /etc/review.env`);
  loadEnvironment(file);
  return words.toSpliced(at, isOneWord ? 1 : 2);
}
