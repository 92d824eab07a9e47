import { z } from 'zod';
import { hmac, isMac, type Keys } from '../config/secrets.ts';
import type { CursorPage, Position } from '../db/cursor.ts';
import { ProblemError } from './problem.ts';

const Sealed = z.tuple([z.enum(['next', 'prev']), z.string(), z.string(), z.boolean()]);
const MAC_BYTES = 16;

/** Signs and verifies the cursors of one list with one set of filters. Refuses altered cursors and those of other lists. */
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
    // Several base64 texts decode to the same bytes; only the canonical one is accepted.
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
    answer<Item, Record>(page: CursorPage<Item>, toResponse: (item: Item) => Record) {
      return {
        data: page.items.map(toResponse),
        page: { next: page.next && seal(page.next), prev: page.prev && seal(page.prev) },
      };
    },
  };
}

const invalidCursor = (field: string) =>
  new ProblemError('INVALID_CURSOR', {
    errors: [
      {
        pointer: `/${field}`,
        code: 'INVALID_CURSOR',
        message: 'Must be a cursor from a response of this list with the same filters.',
      },
    ],
  });
