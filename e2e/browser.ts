import { type Browser, chromium } from 'playwright-core';
import { findProgram } from '../scripts/find-program.ts';
import { lacking } from '../scripts/testing.ts';

/** The paths on macOS. */
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const findChromium = (): string | undefined =>
  process.env['CHROMIUM_PATH'] || findProgram(['chromium', 'chromium-browser', 'google-chrome'], APPLICATIONS);

const REMEDY = 'install chromium, or set CHROMIUM_PATH';

/** For `describe.skipIf`. */
export const lacksChromium = (): boolean => findChromium() === undefined && lacking('Chromium', REMEDY);

/** Launches Chromium; disposing of the browser closes it. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(`Chromium was not found: ${REMEDY}`);
  // The sandbox does not work as root. The tests open only pages of the service.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...args, '--autoplay-policy=no-user-gesture-required'] });
}
