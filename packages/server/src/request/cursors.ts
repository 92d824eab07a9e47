import { z } from 'zod';
import { hmac, isMac, type Keys } from '../config/secrets.ts';
import type { CursorPage, Position } from '../db/cursor.ts';
import { ProblemError } from './problem.ts';

const Sealed = z.tuple([z.enum(['next', 'prev']), z.string(), z.string(), z.boolean()]);
const MAC_BYTES = 16;

/** The cursors of one list with one set of filters: altered, or brought to another list, they are refused. */
export function cursors(keys: Keys, list: string, filters: unknown) {
  const signed = (payload: Buffer) => [JSON.stringify([list, filters]), '\0', payload] as const;

  const seal = ({ towards, key, inclusive }: Position): string => {
    const payload = Buffer.from(JSON.stringify([towards, ...key, inclusive]));
    const mac = hmac(keys[0], ...signed(payload)).subarray(0, MAC_BYTES);
    return Buffer.concat([mac, payload]).toString('base64url');
  };

  function open(cursor: string, towards: Position['towards']): Position {
    const bytes = Buffer.from(cursor, 'base64url');
    const payload = bytes.subarray(MAC_BYTES);
    // Base64 has spellings that decode to the same bytes; only the one we gave is the cursor we gave.
    const unaltered =
      bytes.toString('base64url') === cursor &&
      bytes.length > MAC_BYTES &&
      isMac(keys, bytes.subarray(0, MAC_BYTES), ...signed(payload));
    if (!unaltered) throw invalidCursor(towards);
    const [way, sort, id, inclusive] = Sealed.parse(JSON.parse(payload.toString()));
    if (way !== towards) throw invalidCursor(towards);
    return { towards, key: [sort, id], inclusive };
  }

  return {
    position({ next, prev }: { next?: string | undefined; prev?: string | undefined }): Position | null {
      if (next !== undefined) return open(next, 'next');
      return prev === undefined ? null : open(prev, 'prev');
    },
    answer<Item, Shown>(page: CursorPage<Item>, show: (item: Item) => Shown) {
      return {
        data: page.items.map(show),
        page: { next: page.next && seal(page.next), prev: page.prev && seal(page.prev) },
      };
    },
  };
}

const invalidCursor = (field: string) =>
  new ProblemError('INVALID_CURSOR', {
    errors: [{ pointer: `/${field}`, code: 'INVALID_CURSOR', message: 'Not a cursor that this list gave.' }],
  });
