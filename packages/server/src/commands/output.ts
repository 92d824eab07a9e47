/** Where a command prints. */
export interface Streams {
  stdout(text: string): void;
  stderr(text: string): void;
}

/** Prints the result of a command: one JSON value with --json, else text. */
export interface Output {
  exitCode: 0 | 1;
  show(value: unknown, text: string): void;
  note(text: string): void;
  fail(error: unknown): void;
}

export function createOutput(asJson: boolean, { stdout, stderr }: Streams): Output {
  return {
    exitCode: 0,
    show: (value, text) => stdout(`${asJson ? JSON.stringify(value) : text}\n`),
    note: (text) => stderr(`${text}\n`),
    fail(error) {
      const message = explain(error);
      stderr(`${message}\n`);
      if (asJson) stdout(`${JSON.stringify({ error: message })}\n`);
      this.exitCode = 1;
    },
  };
}

/** A mistake of the user, printed without a stack. */
export class CommandError extends Error {
  override name = 'CommandError';
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A host with several addresses, none of which is reachable.
  if (error instanceof AggregateError) return error.errors.map(explain).join('; ');
  if (/no such table|relation ".*" does not exist/.test(error.message)) {
    return 'The database has no schema yet, or that of an earlier release. Run `review migrate`, or start the server once.';
  }
  return error.message;
}

export function table(headings: string[], rows: string[][]): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
