import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { lacksOpenssl, selfSigned } from '../test/certificate.ts';
import { openHouse } from '../test/house.ts';
import { checkCertificates } from './certificates.ts';

test.skipIf(lacksOpenssl()).each([
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
