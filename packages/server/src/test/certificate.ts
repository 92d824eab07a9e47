import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lacking } from '../../../../scripts/testing.ts';

/** For `describe.skipIf`. */
export const lacksOpenssl = (): boolean =>
  spawnSync('openssl', ['version']).status !== 0 && lacking('openssl', 'apt-get install openssl');

/** Makes a certificate of this host, signed by no authority, in files `key.pem` and `cert.pem` of the folder. */
export function selfSigned(folder: string, days: number): { key: string; cert: string } {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', ...subject];
  execFileSync('openssl', [...made, '-days', String(days), '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}
