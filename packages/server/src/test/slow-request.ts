import { once } from 'node:events';
import { request } from 'node:http';
import type { House } from './house.ts';
import type { ServerProcess } from './server-process.ts';

const BODY = JSON.stringify({ name: 'Sent slowly' });

interface Answered {
  status: number | undefined;
  connection: string | undefined;
  body: string;
}

/** A request in flight: the server has its headers and waits for the rest of its body. */
export async function slowRequest(server: ServerProcess, house: House) {
  const { hostname, port } = new URL(server.url);
  const sent = request({
    hostname,
    port,
    method: 'POST',
    path: `/api/projects/${house.projectId}/folders`,
    headers: {
      authorization: `Bearer ${house.people.owner.key}`,
      'content-type': 'application/json',
      'content-length': BODY.length,
      // The server answers 100 Continue when it has read the headers.
      expect: '100-continue',
    },
  });
  const answered = new Promise<Answered>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', async (response) => {
      let body = '';
      for await (const part of response) body += part;
      resolve({ status: response.statusCode, connection: response.headers.connection, body });
    });
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  sent.write(BODY.slice(0, 5));
  return { finish: () => sent.end(BODY.slice(5)), answered };
}
