import type { Request, RequestHandler } from 'express';
import type { Config } from '../config/config.ts';
import { ProblemError } from '../request/problem.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * A page on the web can make a browser call a server on the reader's own machine or network, under a name that it has
 * pointed there. So the name must be one of ours, and a page that calls must be one that we know.
 */
export function requireOwnAddress({ publicUrl, corsOrigins, toolHosts }: Config): RequestHandler {
  const hosts = new Set([...LOOPBACK, new URL(publicUrl).hostname, ...toolHosts]);
  const origins = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  const isKnownPage = (origin: string) =>
    origins.has(origin) || (URL.canParse(origin) && LOOPBACK.includes(new URL(origin).hostname));

  return (request, _response, next) => {
    if (!hosts.has(hostOf(request))) {
      throw new ProblemError('ADDRESS_NOT_ALLOWED', {
        detail: `This service does not answer as ${hostOf(request) || 'a host without a name'}.`,
      });
    }
    const origin = request.get('origin');
    if (origin !== undefined && !isKnownPage(origin)) {
      throw new ProblemError('ADDRESS_NOT_ALLOWED', { detail: 'Pages of this origin may not call the tools.' });
    }
    next();
  };
}

function hostOf(request: Request): string {
  const address = `http://${request.get('host') ?? ''}`;
  return URL.canParse(address) ? new URL(address).hostname : '';
}
