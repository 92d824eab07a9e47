import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Family, Output } from './family.ts';

const InHand = z.object({ bytes: z.instanceof(Uint8Array) });

/** A result that came with the answer. */
export const inHand = (bytes: Uint8Array): Output => ({ bytes });

export const writeInHand: Family['download'] = ({ output, path, signal }) =>
  writeFile(path, InHand.parse(output).bytes, { signal });
