type Metadata = Record<string, string>;

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function toolsOf(text: string): string[] | null {
  const tools = linesOf(text);
  return tools.length === 0 ? null : tools;
}

export const metadataText = (metadata: Metadata | null): string =>
  Object.entries(metadata ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** Parses `name: value` lines; returns the value or an error text. */
export function metadataOf(text: string): { value: Metadata | null; error: string | null } {
  const lines = linesOf(text);
  if (lines.length === 0) return { value: null, error: null };
  const pairs = lines.map((line) => /^([^:]+):\s*(.*)$/.exec(line));
  const wrong = pairs.indexOf(null);
  if (wrong >= 0) return { value: null, error: `Write “${lines[wrong]}” as name: value.` };
  const value = Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim() ?? '', pair?.[2] ?? '']));
  return { value, error: null };
}
