import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { findProgram } from '../scripts/find-program.ts';
import { lacking } from '../scripts/testing.ts';
import { Program, readOutput } from './processes.ts';
import type { Settings } from './service.ts';

const root = resolve(import.meta.dirname, '..');
const DOCKERFILE = join(root, 'deploy/Dockerfile');
const BASE = 'localhost/node:24';

const Config = z.object({
  User: z.string().regex(/^\d+:\d+$/),
  Env: z.array(z.string()),
  WorkingDir: z.string(),
  Entrypoint: z.array(z.string()),
  Healthcheck: z.object({ Test: z.tuple([z.literal('CMD')], z.string()) }),
  Volumes: z.record(z.string(), z.unknown()),
});
const Inspected = z.object({ Docker: z.object({ config: Config }) });

export function lacksImages(): boolean {
  const missing = ['buildah', 'mmdebstrap', 'unshare', 'setpriv'].filter((name) => findProgram([name]) === undefined);
  if (missing.length > 0) return lacking(missing.join(' and '), `apt-get install ${missing.join(' ')}`);
  return process.getuid?.() !== 0 && lacking('root, for images', 'run the tests as root');
}

/** Images that buildah builds and stores in a folder, without a Docker engine and without a registry. */
export class Images implements AsyncDisposable {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  #buildah(...words: string[]): Promise<string> {
    const places = ['--root', join(this.#folder, 'storage'), '--runroot', join(this.#folder, 'run')];
    return readOutput('buildah', [...places, ...words], { TMPDIR: this.#folder });
  }

  /** Makes the base of the Dockerfile: its release of Debian with the Node.js and the npm of this host. */
  async buildBase(): Promise<void> {
    const release = /^ARG BASE=node:24-(\w+)-slim$/m.exec(readFileSync(DOCKERFILE, 'utf8'))?.[1] ?? '';
    const [debian, local] = [join(this.#folder, 'debian.tar'), join(this.#folder, 'local')];
    const packages = '--include=passwd,libstdc++6';
    const settings = { TMPDIR: this.#folder };
    await readOutput(
      'mmdebstrap',
      ['--mode=root', '--variant=essential', packages, '--quiet', release, debian],
      settings,
    );
    mkdirSync(join(local, 'bin'), { recursive: true });
    copyFileSync(process.execPath, join(local, 'bin/node'));
    // The npm registry of this host may have a certificate that only this host trusts.
    const certificates = process.env['NODE_EXTRA_CA_CERTS'];
    const trust = certificates ? { NODE_EXTRA_CA_CERTS: certificates } : undefined;
    const version = (await readOutput('npm', ['--version'])).trim();
    await readOutput('npm', ['install', '--global', '--prefix', local, '--silent', `npm@${version}`], trust);

    const container = (await this.#buildah('from', 'scratch')).trim();
    await this.#buildah('add', '--quiet', container, debian, '/');
    await this.#buildah('add', '--quiet', container, local, '/usr/local');
    if (certificates) {
      const path = '/etc/ssl/certs/of-host.pem';
      await this.#buildah('add', '--quiet', container, certificates, path);
      await this.#buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${path}`, container);
    }
    await this.#buildah('commit', '--quiet', '--rm', container, BASE);
  }

  async build(target: string): Promise<void> {
    const npmrc = join(homedir(), '.npmrc');
    await this.#buildah(
      'bud',
      '--layers',
      '--format=docker',
      '--isolation=chroot',
      '--network=host',
      '--pull-never',
      `--build-arg=BASE=${BASE}`,
      ...(existsSync(npmrc) ? [`--secret=id=npmrc,src=${npmrc}`] : []),
      `--file=${DOCKERFILE}`,
      `--target=${target}`,
      `--tag=localhost/review-${target}`,
      root,
    );
  }

  async createContainer(target: string, settings: Settings): Promise<Container> {
    const image = `localhost/review-${target}`;
    const { config } = Inspected.parse(JSON.parse(await this.#buildah('inspect', '--type=image', image))).Docker;
    const name = (await this.#buildah('from', '--pull-never', image)).trim();
    const files = (await this.#buildah('mount', name)).trim();
    return new Container(config, files, join(this.#folder, `${target}-volumes`), settings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#buildah('unmount', '--all');
  }
}

/** Mounts the files $1 read-only with the volumes that follow and a /tmp of its own, up to `--`, and executes the rest there. */
const ENTER = `
set -eu
files=$1
shift
mount --bind "$files" "$files"
mount --rbind /dev "$files/dev"
mount --rbind /proc "$files/proc"
mount -t tmpfs tmpfs "$files/tmp"
while [ "$1" != -- ]; do
  mount --bind "$1" "$files/$2"
  shift 2
done
shift
mount -o remount,bind,ro "$files"
exec chroot "$files" "$@"
`;

/** A container with the restrictions of compose.yaml: read-only files, the user of the image, and no capabilities. It has the network of the host. */
export class Container {
  readonly entrypoint: readonly string[];
  readonly healthCheck: readonly string[];
  /** The folder with the files of the image. */
  readonly files: string;
  readonly user: number;
  readonly #enter: readonly string[];

  constructor(config: z.infer<typeof Config>, files: string, volumeFolder: string, settings: Settings) {
    const [user = '', group = ''] = config.User.split(':');
    this.user = Number(user);
    this.files = files;
    this.entrypoint = config.Entrypoint;
    this.healthCheck = config.Healthcheck.Test.slice(1);
    const environment = [...config.Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)];
    this.#enter = [
      ...['--mount', 'sh', '-c', ENTER, 'sh', files],
      ...Object.keys(config.Volumes).flatMap((path) => [createVolume(files, path, volumeFolder), path]),
      ...['--', 'env', '--ignore-environment', `--chdir=${config.WorkingDir}`, ...environment],
      ...['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups', '--no-new-privs'],
      ...['--inh-caps=-all', '--bounding-set=-all', '--'],
    ];
  }

  start(): Program {
    return new Program('unshare', [...this.#enter, ...this.entrypoint], {});
  }

  /** Runs a command in the container and returns its output, like `docker exec`. */
  execute(words: readonly string[]): Promise<string> {
    return readOutput('unshare', [...this.#enter, ...words]);
  }
}

/** A new volume has the owner and the mode that its folder has in the image. */
function createVolume(files: string, path: string, volumeFolder: string): string {
  const volume = join(volumeFolder, path);
  mkdirSync(volume, { recursive: true });
  const { uid, gid, mode } = statSync(join(files, path));
  chownSync(volume, uid, gid);
  chmodSync(volume, mode);
  return volume;
}
