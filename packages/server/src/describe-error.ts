const MAX_CAUSES = 5;

/**
 * What the log keeps of an error: name, code, message and stack, and the same of its causes. Everything else that
 * libraries attach is left out, since it can be a whole request.
 */
export function describeError(error: unknown, causes = MAX_CAUSES): unknown {
  if (!(error instanceof Error)) return error;
  const inner = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause];
  const [cause, ...more] = causes > 0 ? inner.slice(0, MAX_CAUSES).map((each) => describeError(each, causes - 1)) : [];
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && { code: error.code }),
    stack: error.stack,
    ...(cause !== undefined && { cause: more.length === 0 ? cause : [cause, ...more] }),
  };
}
