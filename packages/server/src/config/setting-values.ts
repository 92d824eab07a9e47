import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { DatabaseAddress, PostgresAddress } from '../db/database.ts';

// The schemas of settings. Their messages say what to write.

export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'write an address such as https://review.example.com' })
  .transform((address) => address.replace(/\/+$/, ''));

/** An https URL, because signing keys from an unencrypted connection cannot be trusted. Allows http on loopback. */
export const secureUrl = z
  .url({ protocol: /^https?$/, error: 'write an address such as https://login.example.com' })
  .refine(
    (address) => !URL.canParse(address) || new URL(address).protocol === 'https:' || isLoopback(new URL(address)),
    'write an https address; http is allowed for localhost only',
  );

const isLoopback = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

export const list = z.string().transform((text) => text.split(',').map((entry) => entry.trim()));

export const hostNames = z
  .string()
  .regex(/^[a-z0-9.-]+(\s*,\s*[a-z0-9.-]+)*$/i, 'write off, or host names such as review.internal, separated by commas')
  .transform((text) => (text === 'off' ? [] : text.toLowerCase().split(/\s*,\s*/)));

export const databaseUrl = (pool: Pick<PostgresAddress, 'connections' | 'timeouts'>) =>
  z.string().transform((address, context): DatabaseAddress => {
    if (/^sqlite:.+/.test(address)) return { dialect: 'sqlite', path: address.slice('sqlite:'.length) };
    if (/^postgres(ql)?:\/\//.test(address) && URL.canParse(address)) {
      return { dialect: 'postgres', url: address, ...pool };
    }
    context.addIssue({ code: 'custom', message: 'write sqlite:<path> or postgres://user:password@host:5432/name' });
    return z.NEVER;
  });

export const storageUrl = z
  .string()
  .regex(/^(file:.+|s3:\/\/[^/?]+.*)$/, 'write file:<directory> or s3://<bucket>/<prefix>?region=<region>');

/** Numbers by name, such as `tier-2=20,tier-4=100`, merged over the defaults. */
export function namedNumbers<Name extends string>(defaults: Record<Name, number>): z.ZodType<Record<Name, number>> {
  const isName = (name: string): name is Name => name in defaults;
  return z.string().transform((text, context) => {
    const numbers = { ...defaults };
    for (const entry of text === 'on' ? [] : text.split(',')) {
      const [name = '', number = ''] = entry.trim().split('=');
      if (!isName(name) || !/^[1-9]\d{0,8}$/.test(number)) {
        const example = Object.entries(defaults)
          .slice(0, 2)
          .map((pair) => pair.join('='))
          .join(',');
        context.addIssue({
          code: 'custom',
          message: `write on, or numbers such as ${example} (names: ${Object.keys(defaults).join(', ')})`,
        });
        return z.NEVER;
      }
      numbers[name] = Number(number);
    }
    return numbers;
  });
}

export const onOrOff = z.enum(['on', 'off'], 'write on or off').transform((text) => text === 'on');

export const trustProxy = z.string().transform((text, context) => {
  if (text === 'off') return false;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const list = text.split(',').map((proxy) => proxy.trim());
  if (!list.every(isProxy)) {
    context.addIssue({
      code: 'custom',
      message: 'write off, the number of proxies, or their addresses such as loopback,10.0.0.0/8',
    });
  }
  return list;
});

function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

export const origins = z.string().transform((text, context) => {
  const list = text === 'off' ? [] : text.split(',').map((origin) => origin.trim());
  if (list.some((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)) {
    context.addIssue({
      code: 'custom',
      message: 'write off, or origins such as https://tools.example.com, separated by commas',
    });
  }
  return list;
});

export const consoleDirectory = z
  .string()
  .refine((text) => text === 'off' || existsSync(text), 'write off, or the directory of the built console')
  .transform((text) => (text === 'off' ? null : resolve(text)));
