import { ProblemError } from '../request/problem.ts';

/** Deeper than any request of the contract. Bounds the recursion of the code that handles the value. */
const MAX_DEPTH = 200;
/** More than an upload of ten thousand parts or the largest annotation contains. */
const MAX_VALUES = 150_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Parses a JSON body; refuses what is not UTF-8, nested too deeply or made of too many values. */
export function parseJson(bytes: Buffer): unknown {
  checkSize(bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The body is not encoded as UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError('INVALID_JSON');
  }
}

/** Counts brackets and commas outside of strings. The parser finds any other error. */
function checkSize(bytes: Buffer): void {
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) inString = !inString;
    else if (inString) {
      if (byte === BACKSLASH) index++;
    } else if (byte === COMMA) values++;
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_DEPTH) throw invalid(`The body is nested too deeply: at most ${MAX_DEPTH} levels.`);
    } else if (byte === 0x5d || byte === 0x7d) depth--;
    if (values > MAX_VALUES) throw new ProblemError('BODY_TOO_LARGE', { detail: `At most ${MAX_VALUES} JSON values.` });
  }
}

const invalid = (detail: string) => new ProblemError('INVALID_JSON', { detail });
