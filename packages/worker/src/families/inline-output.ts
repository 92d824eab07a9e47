import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Family, Output } from './family.ts';

const InlineOutput = z.object({ bytes: z.instanceof(Uint8Array) });

/** The output of a provider that answers with the result itself. */
export const inlineOutput = (bytes: Uint8Array): Output => ({ bytes });

export const writeInlineOutput: Family['download'] = ({ output, path, signal }) =>
  writeFile(path, InlineOutput.parse(output).bytes, { signal });
