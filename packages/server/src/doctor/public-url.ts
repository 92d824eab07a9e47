import { releaseVersion } from '../config/release.ts';
import { type Check, ok, reasonOf, warning } from './finding.ts';

const TIMEOUT_MS = 5000;

/** Whether the service answers at PUBLIC_URL, through the proxy. A warning, because a host may not reach its own public name. */
export const checkPublicUrl: Check = async ({ config: { publicUrl } }) => {
  const advice = 'Compare PUBLIC_URL with the proxy, and try it from another host.';
  try {
    const response = await fetch(`${publicUrl}/version`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const answer: unknown = response.ok ? await response.json() : null;
    const version = Reflect.get(Object(answer), 'version');
    if (typeof version !== 'string')
      return [warning(`${publicUrl} answers, but not as this service (${response.status}).`, advice)];
    const release = releaseVersion();
    if (version === release) return [ok(`The service answers at ${publicUrl}.`)];
    return [
      warning(`The service at ${publicUrl} is ${version}, this one ${release}.`, 'Finish the upgrade of all servers.'),
    ];
  } catch (error) {
    const { cause = error } = Object(error);
    return [warning(`${publicUrl} does not answer from this host: ${reasonOf(cause)}.`, advice)];
  }
};
