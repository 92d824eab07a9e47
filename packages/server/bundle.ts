// Bundles the programs into dist, because Node takes a millisecond to load a module and the server had a thousand. See
// docs/decisions/0041-the-server-is-bundled.md.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const PROGRAMS = ['main', 'commands/main'];
/**
 * Left in node_modules: packages with native code, packages that find files next to their own, SDKs that are loaded on
 * demand, and pg, whose statements the benchmark counts.
 */
const EXTERNAL = /^(better-sqlite3|fontkit|pdfkit|pg|pino|swagger-ui-dist|@aws-sdk\/.*|@temporalio\/.*)$/;
const CONTRACT = join(import.meta.dirname, '../contract/src');
const TRACING = join(import.meta.dirname, '../tracing/src');
const DIST = join(import.meta.dirname, 'dist');

/** Returns the files of a program by name: one with what it always needs, and a chunk for each import on demand. */
async function bundle(name: string): Promise<Map<string, string>> {
  const build = await rolldown({
    cwd: import.meta.dirname,
    input: { [name]: `src/${name}.ts` },
    platform: 'node',
    external: EXTERNAL,
    // Their sources, so that `npm run dev` need not wait for tsc.
    resolve: { alias: { '@review/contract': CONTRACT, '@review/tracing': TRACING } },
    // As for tsc: Node 22 does not know `using`.
    transform: { target: 'es2024' },
  });
  const { output } = await build.generate({
    chunkFileNames: `${name}/[name].js`,
    // Exports keep their names, so that a running program can load a chunk of a later build.
    minifyInternalExports: false,
    sourcemap: true,
  });
  await build.close();
  return new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : String(file.source)]));
}

/** Writes changed files only, and in place, because `node --watch` restarts a program when a file of it is written. */
function write(path: string, content: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === content) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const files = new Map((await Promise.all(PROGRAMS.map(bundle))).flatMap((program) => [...program]));
for (const [name, content] of files) write(join(DIST, name), content);
for (const stale of globSync('**/*.{js,map,ts}', { cwd: DIST })) {
  if (!files.has(stale)) rmSync(join(DIST, stale));
}
