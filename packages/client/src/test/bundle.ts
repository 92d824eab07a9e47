import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const ZOD = /^zod(\/|$)/;

interface Bundle {
  code: string;
  gzip: number;
  /** The files it is made of. */
  modules: string[];
}

/** Bundles everything the client exports for a browser, without the external modules. */
export async function bundle(leftOut: RegExp[] = []): Promise<Bundle> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      rolldownOptions: {
        input: resolve(import.meta.dirname, '../../dist/index.js'),
        external: leftOut,
        preserveEntrySignatures: 'strict',
      },
    },
  });
  const outputs = [built].flat().flatMap((each) => ('output' in each ? each.output : []));
  const chunks = outputs.filter((output) => output.type === 'chunk');
  const code = chunks.map((chunk) => chunk.code).join('');
  return { code, gzip: gzipSync(code).length, modules: chunks.flatMap((chunk) => chunk.moduleIds) };
}

export async function measure() {
  const [whole, withoutZod] = [await bundle(), await bundle([ZOD])];
  const line = (what: string, { code, gzip }: Bundle) =>
    `${what}: ${(gzip / 1000).toFixed(1)} kB gzip, ${(code.length / 1000).toFixed(1)} kB minified`;
  const report = [line('the client in a browser, without zod', withoutZod), line('with what it uses of zod', whole)];
  return { whole, withoutZod, report: report.join('\n') };
}

if (import.meta.main) console.log((await measure()).report);
