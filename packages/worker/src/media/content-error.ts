const LIBRARIES = '/node_modules/';
/** pdf.js stumbles over damaged files with errors that would be bugs elsewhere. */
const CARELESS_LIBRARY = '/node_modules/pdfjs-dist/';

/**
 * Whether a decoder refused the content. Everything else (bugs of this program, a full disk, a missing library) is a fault of the
 * worker, which the content must not be blamed for.
 */
export function isContentError(error: unknown): boolean {
  if (!(error instanceof Error) || 'syscall' in error) return false;
  // By its name, as most files are read without zod.
  if (error instanceof SyntaxError || error.name === 'ZodError') return true;
  // An error of a native decoder may have no stack.
  const [origin = LIBRARIES] = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
  const isBug = error instanceof TypeError || error instanceof ReferenceError;
  return origin.includes(isBug ? CARELESS_LIBRARY : LIBRARIES);
}
