import { isIP } from 'node:net';
import { connect, type PeerCertificate, TLSSocket } from 'node:tls';
import { type Check, type Diagnosed, failed, type Outcome, ok, reasonOf, warning } from './finding.ts';

const TIMEOUT_MS = 5000;
const WARNING_DAYS = 14;
const DAY_MS = 86_400_000;

/** The certificates of PUBLIC_URL and of Postgres, as this host sees them. */
export const checkCertificates: Check = async (deps) =>
  (await Promise.all([publicCertificate(deps), postgresCertificate(deps)])).flat();

async function publicCertificate({ config }: Diagnosed): Promise<Outcome[]> {
  const { protocol, hostname, port } = new URL(config.publicUrl);
  if (protocol !== 'https:') return [];
  const { promise: handshake, resolve, reject } = Promise.withResolvers<void>();
  // Not rejected by the handshake, so that an expired certificate can be read.
  const socket = connect(
    {
      host: hostname,
      port: Number(port || 443),
      rejectUnauthorized: false,
      ...(isIP(hostname) === 0 && { servername: hostname }),
    },
    resolve,
  );
  socket.setTimeout(TIMEOUT_MS, () => reject(new Error('no answer')));
  socket.on('error', reject);
  try {
    await handshake;
    return [judge('PUBLIC_URL', socket, true)];
  } catch (error) {
    return [
      warning(
        `The certificate of PUBLIC_URL cannot be read: ${reasonOf(error)}.`,
        'Compare PUBLIC_URL with the proxy.',
      ),
    ];
  } finally {
    socket.destroy();
  }
}

async function postgresCertificate({ config, opened }: Diagnosed): Promise<Outcome[]> {
  if (opened.pool === null || opened.address.dialect !== 'postgres') return [];
  const client = await opened.pool.connect();
  try {
    const { stream } = client.connection;
    // The connection exists, so that its own settings accept the certificate, even if no authority does.
    if (stream instanceof TLSSocket) return [judge('Postgres', stream, false)];
  } finally {
    client.release();
  }
  const { hostname } = new URL(opened.address.url);
  if (!config.production || ['', 'localhost', '127.0.0.1', '[::1]'].includes(hostname)) return [];
  return [
    warning(
      `The connection to Postgres on ${hostname} is not encrypted.`,
      'Add ?sslmode=verify-full to DATABASE_URL, or keep both hosts in a private network.',
    ),
  ];
}

function judge(name: string, socket: TLSSocket, mustBeTrusted: boolean): Outcome {
  const { valid_to: end }: Partial<PeerCertificate> = socket.getPeerCertificate();
  const days = Math.floor((Date.parse(end ?? '') - Date.now()) / DAY_MS);
  const message = `The certificate of ${name} is valid until ${end} (${days} days).`;
  if (days < 0) return failed(`The certificate of ${name} expired on ${end}.`, 'Renew it now.');
  if (mustBeTrusted && !socket.authorized)
    return failed(
      `Clients refuse the certificate of ${name}: ${socket.authorizationError}.`,
      'Install a certificate for this host name, with its chain.',
    );
  return days < WARNING_DAYS ? warning(message, 'Renew it; check why its renewal has not run.') : ok(message);
}
