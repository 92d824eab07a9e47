import { gzipSync } from 'node:zlib';
import type { Plugin, Rolldown } from 'vite';

const LIMIT_KB = 200;
/** Loaded later, also because `content-policy.ts` must configure zod before the first schema is built. */
const SCHEMAS = /\/zod\/v4\/\w+\/schemas\.js$/;

/**
 * Measures the JavaScript that a page needs before it is usable: the entry, the chunk of the page and their imports. The
 * build prints the size and fails above the limit.
 */
export function firstLoad(landings: readonly string[]): Plugin {
  return {
    name: 'first-load',
    apply: 'build',
    writeBundle(_options, bundle) {
      const chunks = new Map<string, Rolldown.OutputChunk>();
      for (const output of Object.values(bundle)) if (output.type === 'chunk') chunks.set(output.fileName, output);
      const entry = [...chunks.values()].find((chunk) => chunk.isEntry);
      for (const landing of landings) {
        const page = [...chunks.values()].find((chunk) => chunk.facadeModuleId?.endsWith(`/src/${landing}`));
        if (entry === undefined || page === undefined)
          throw new Error(`the build has no separate chunk for ${landing}`);
        const fetched = reachable([entry.fileName, page.fileName], chunks);
        const schemas = [...fetched].flatMap(({ modules }) => Object.keys(modules)).find((id) => SCHEMAS.test(id));
        if (schemas !== undefined) throw new Error(`the first load of ${landing} contains ${schemas}`);
        const bytes = [...fetched].reduce((sum, { code }) => sum + gzipSync(code).length, 0);
        console.log(`first load of ${landing}: ${(bytes / 1000).toFixed(1)} kB of JavaScript, gzip`);
        if (bytes > LIMIT_KB * 1000) throw new Error(`the first load of ${landing} is above ${LIMIT_KB} kB`);
      }
    },
  };
}

function reachable(from: readonly string[], chunks: ReadonlyMap<string, Rolldown.OutputChunk>) {
  const found = new Set<Rolldown.OutputChunk>();
  const visit = (name: string) => {
    const chunk = chunks.get(name);
    if (chunk === undefined || found.has(chunk)) return;
    found.add(chunk);
    chunk.imports.forEach(visit);
  };
  from.forEach(visit);
  return found;
}
