import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../scripts/find-program.ts';
import { lacking } from '../scripts/testing.ts';
import { freePort } from './dev-process.ts';
import { Program, until } from './processes.ts';

const MANUAL = new URL('../docs/self-hosting.md', import.meta.url);

/** A reverse proxy that docs/self-hosting.md has a configuration for. */
interface ProxyKind {
  name: 'nginx' | 'haproxy';
  program: string;
}

/** The proxies installed on this machine; missing ones are reported. */
export const PROXIES: ProxyKind[] = (['nginx', 'haproxy'] as const).flatMap((name) => {
  const program = findProgram([name], [`/usr/sbin/${name}`]);
  if (program !== undefined) return [{ name, program }];
  lacking(name, `apt-get install ${name}`);
  return [];
});

export interface RunningProxy extends AsyncDisposable {
  url: string;
}

/** Runs the proxy with the configuration from docs/self-hosting.md in front of servers on these two ports. */
export async function startProxy(kind: ProxyKind, ports: readonly [string, string]): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'review-proxy-'));
  const port = await freePort();
  const printed = new RegExp(`\`\`\`${kind.name}\n([^]*?)\`\`\``).exec(readFileSync(MANUAL, 'utf8'))?.[1];
  if (printed === undefined) throw new Error(`docs/self-hosting.md has no configuration of ${kind.name}`);
  const servers = printed
    .replaceAll('10.0.0.11:3000', `127.0.0.1:${ports[0]}`)
    .replaceAll('10.0.0.12:3000', `127.0.0.1:${ports[1]}`);
  const file = join(folder, 'proxy.conf');
  await writeFile(file, kind.name === 'nginx' ? nginxFile(servers, port, folder) : haproxyFile(servers, port));
  const words = kind.name === 'nginx' ? ['-c', file, '-e', 'stderr'] : ['-db', '-f', file];
  const program = new Program(kind.program, words, {});
  const url = `http://127.0.0.1:${port}`;
  await until(`${kind.name} answers`, async () => {
    if (program.child.exitCode !== null) throw new Error(`${kind.name} exited:\n${program.output}`);
    return (await fetch(`${url}/healthz`).catch(() => null))?.ok;
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      await program.end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The configuration without TLS, run as the current user, with all files in the folder. */
function nginxFile(servers: string, port: string, folder: string): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const plain = servers.replace(/listen 443 ssl;/, `listen 127.0.0.1:${port};`).replace(/^ *ssl_.*$/gm, '');
  return `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${join(folder, 'nginx.pid')};
error_log stderr warn;
events {}
http {
access_log off;
${paths.join('\n')}
${plain}
}
`;
}

const haproxyFile = (servers: string, port: string) => servers.replace(/bind :443 .*/, `bind 127.0.0.1:${port}`);
