import type { Person } from './members.ts';

/** The token of a person in the content of a comment: `<@` user id `>`. */
const TOKEN = /<@([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})>/gi;

export const mentionOf = (userId: string): string => `<@${userId}>`;

/** Replaces every token by what `replacement` returns for its user id. */
export const replaceMentions = (content: string, replacement: (userId: string) => string): string =>
  content.replace(TOKEN, (_, id: string) => replacement(id.toLowerCase()));

/** Returns the distinct user ids of the tokens, in the order of the content. */
export function mentionedIn(content: string | null): string[] {
  // Most comments have no token, and `includes` is much faster than the regular expression.
  if (!content?.includes('<@')) return [];
  const found = Array.from(content.matchAll(TOKEN), ([, id = '']) => id.toLowerCase());
  return [...new Set(found)];
}

/** The content with names in place of tokens. A person who has left the workspace has no name. */
export const withNames = (content: string, people: Iterable<Pick<Person, 'id' | 'name'>>): string => {
  const names = new Map(Array.from(people, ({ id, name }) => [id, name]));
  return replaceMentions(content, (id) => `@${names.get(id) ?? 'former member'}`);
};
