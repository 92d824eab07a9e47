import type { Request, RequestHandler } from 'express';
import type { Config } from '../config/config.ts';
import { ProblemError } from '../request/problem.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Requires a known Host and, from browsers, a known Origin. Prevents DNS rebinding: a web page that points its own host
 * name at a server in the user's network.
 */
export function requireOwnAddress({ publicUrl, corsOrigins, toolHosts }: Config): RequestHandler {
  const hosts = new Set([...LOOPBACK, new URL(publicUrl).hostname, ...toolHosts]);
  const origins = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  const isKnownPage = (origin: string) =>
    origins.has(origin) || (URL.canParse(origin) && LOOPBACK.includes(new URL(origin).hostname));

  return (request, _response, next) => {
    if (!hosts.has(hostOf(request))) {
      throw new ProblemError('ADDRESS_NOT_ALLOWED', {
        detail: `The host ${hostOf(request) || '(none)'} is not allowed. Use the host of PUBLIC_URL, or add it to MCP_HOSTS.`,
      });
    }
    const origin = request.get('origin');
    if (origin !== undefined && !isKnownPage(origin)) {
      throw new ProblemError('ADDRESS_NOT_ALLOWED', {
        detail: 'Pages of this origin may not call the tools. Add it to CORS_ORIGINS to allow it.',
      });
    }
    next();
  };
}

function hostOf(request: Request): string {
  const address = `http://${request.get('host') ?? ''}`;
  return URL.canParse(address) ? new URL(address).hostname : '';
}
