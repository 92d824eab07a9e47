import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { selfSigned } from '../packages/server/src/test/certificate.ts';
import { findProgram } from '../scripts/find-program.ts';
import { freePort } from '../scripts/free-port.ts';
import { lacking } from '../scripts/testing.ts';
import { Program, until } from './processes.ts';

const MANUAL = new URL('../docs/self-hosting.md', import.meta.url);

const HAPROXY_FILE = fileURLToPath(new URL('../deploy/haproxy.cfg', import.meta.url));

/** A reverse proxy that the guide has a configuration for: nginx in docs/self-hosting.md, HAProxy in deploy/haproxy.cfg. */
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

/** Runs the proxy with its configuration in front of servers on these two ports. */
export async function startProxy(kind: ProxyKind, ports: readonly [string, string]): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'review-proxy-'));
  const port = await freePort();
  const program =
    kind.name === 'nginx' ? await runNginx(kind, ports, port, folder) : await runPair(ports, port, folder);
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

/** HAProxy with its listener for workers on the port, which forwards every path without TLS. */
async function runPair(ports: readonly [string, string], port: string, folder: string): Promise<Program> {
  const { key, cert } = selfSigned(folder, 1);
  await writeFile(join(folder, 'tls.pem'), cert + key);
  return runHaproxy({
    SERVER_1: `127.0.0.1:${ports[0]}`,
    SERVER_2: `127.0.0.1:${ports[1]}`,
    CERTIFICATE: join(folder, 'tls.pem'),
    PUBLIC_BIND: join(folder, 'public.sock'),
    PLAIN_BIND: join(folder, 'plain.sock'),
    PRIVATE_BIND: `127.0.0.1:${port}`,
  });
}

/** Runs HAProxy with deploy/haproxy.cfg. */
export function runHaproxy(settings: Record<string, string>): Program {
  const program = PROXIES.find(({ name }) => name === 'haproxy')?.program ?? 'haproxy';
  return new Program(program, ['-db', '-f', HAPROXY_FILE], settings);
}

async function runNginx(kind: ProxyKind, ports: readonly [string, string], port: string, folder: string) {
  const printed = /```nginx\n(.*?)```/s.exec(readFileSync(MANUAL, 'utf8'))?.[1];
  if (printed === undefined) throw new Error('docs/self-hosting.md has no configuration of nginx');
  const servers = printed
    .replaceAll('10.0.0.11:3000', `127.0.0.1:${ports[0]}`)
    .replaceAll('10.0.0.12:3000', `127.0.0.1:${ports[1]}`);
  const file = join(folder, 'proxy.conf');
  await writeFile(file, nginxFile(servers, port, folder));
  return new Program(kind.program, ['-c', file, '-e', 'stderr'], {});
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
