const MAX_CAUSES = 5;

/**
 * Serializes an error for the log: name, code, message, stack and causes. Leaves out other properties, because libraries
 * attach whole requests.
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
