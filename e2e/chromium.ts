import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The Chromium of this machine; CHROMIUM_PATH names one that is elsewhere. */
export const findChromium = (): string | undefined =>
  PLACES.find((path): path is string => path !== undefined && isProgram(path));

export const startChromium = (executablePath: string): Promise<Browser> => chromium.launch({ executablePath });
