import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { lacking } from '../scripts/testing.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** Where macOS keeps them. */
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

function findChromium(): string | undefined {
  const given = process.env['CHROMIUM_PATH'];
  if (given) return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const programs = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...programs, ...APPLICATIONS].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const REMEDY = 'install chromium, or set CHROMIUM_PATH';

/** For `describe.skipIf`. */
export const lacksChromium = (): boolean => findChromium() === undefined && lacking('Chromium', REMEDY);

/** Chromium, closed when it is disposed of. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(`there is no Chromium: ${REMEDY}`);
  // Its sandbox does not run as root; what is shown here is the service's own.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...args, '--autoplay-policy=no-user-gesture-required'] });
}
