import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** A host name has resolved to a private address. */
export class PrivateAddress extends Error {}

type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Returns a look-up for connections that fails if any address of a host name is private. The connection uses the very
 * addresses that were checked, so that a name which resolves to another address a moment later gains nothing.
 */
export const publicLookupWith =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '');
      if (addresses.some(({ address }) => isPrivate(address))) return done(new PrivateAddress(), '');
      if (options.all) return done(null, addresses);
      const [first] = addresses;
      done(null, first?.address ?? '', first?.family);
    });
  };

export const publicLookup = publicLookupWith(lookup);

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address is private or reserved; false for host names. */
export function isPrivate(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  // `BlockList` matches IPv4-mapped IPv6 addresses against the IPv4 rules.
  return isIP(address) !== 0 && PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
