import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { lacking } from '../../../../scripts/testing.ts';
import { openHouse } from '../test/house.ts';
import { checkCertificates } from './certificates.ts';

/** Makes a certificate of this host that no authority has signed. */
function selfSigned(folder: string, days: number) {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', ...subject];
  execFileSync('openssl', [...made, '-days', String(days), '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

const lacksOpenssl = spawnSync('openssl', ['version']).status !== 0 && lacking('openssl', 'apt-get install openssl');

test.skipIf(lacksOpenssl).each([
  { days: 365, trusted: true, status: 'ok', message: 'valid until' },
  { days: 3, trusted: true, status: 'warning', message: '(2 days)' },
  { days: 365, trusted: false, status: 'failed', message: 'Clients refuse the certificate of PUBLIC_URL' },
])(
  'a certificate of PUBLIC_URL for $days days, trusted: $trusted, is $status',
  async ({ days, trusted, ...outcome }) => {
    await using stopped = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'review-certificate-'));
    stopped.defer(() => rmSync(folder, { recursive: true }));
    const certificate = selfSigned(folder, days);
    const authorities = getCACertificates();
    stopped.defer(() => setDefaultCACertificates(authorities));
    if (trusted) setDefaultCACertificates([...authorities, certificate.cert]);
    const server = createServer(certificate).listen(0, '127.0.0.1');
    stopped.defer(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { deps } = stopped.use(await openHouse('sqlite', { PUBLIC_URL: `https://localhost:${port}` }));

    expect(await checkCertificates(deps)).toMatchObject([
      { status: outcome.status, message: expect.stringContaining(outcome.message) },
    ]);
  },
);

test('an http address has no certificate, and one that does not answer is a warning', async () => {
  await using house = await openHouse('sqlite');
  expect(await checkCertificates(house.deps)).toEqual([]);
  await using closed = await openHouse('sqlite', { PUBLIC_URL: 'https://127.0.0.1:1' });
  expect(await checkCertificates(closed.deps)).toMatchObject([{ status: 'warning' }]);
});
