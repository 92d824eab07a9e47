import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { VendorDouble } from './vendor-double.ts';

const files = readdirSync(import.meta.dirname).filter((file) => !/^doubles\.|\.test\.ts$/.test(file));
const modules: Record<string, unknown>[] = await Promise.all(
  files.map((file) => import(join(import.meta.dirname, file))),
);

/** Every vendor with a double in this folder. */
export const VENDORS = modules
  .flatMap((module) => Object.values(module))
  .filter((value) => value instanceof VendorDouble)
  .map(({ description }) => description);

/** The settings of a worker that finds every vendor at the same address. */
export const settingsOfAllAt = (url: string): Record<string, string> =>
  Object.assign({}, ...VENDORS.map(({ settings }) => settings(url)));

export const startDoubles = () =>
  Promise.all(
    VENDORS.map(async ({ families, settings, start }) => {
      const started = await start();
      return { ...started, families, settings: settings(started.double.url) };
    }),
  );
