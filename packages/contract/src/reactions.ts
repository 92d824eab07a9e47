import { z } from 'zod';
import { ANY_MEMBER } from './access.ts';
import { data, NO_BODY, room } from './endpoint.ts';
import { Person } from './members.ts';

/** In UTF-16 units; longer than any emoji. */
const MAX_UNITS = 64;
const EMOJI_STYLE = '\uFE0F';

/** Returns the fully qualified form of exactly one emoji, with or without U+FE0F; null for any other text. */
export function normalizeEmoji(text: string): string | null {
  if (text.length > MAX_UNITS) return null;
  const bare = text.replace(/(\p{Emoji})\uFE0F/gu, '$1');
  const qualified = bare.replace(
    /(?!\p{Emoji_Presentation})\p{Emoji}(?!\p{Emoji_Modifier})/gu,
    (character) => character + EMOJI_STYLE,
  );
  return /^\p{RGI_Emoji}$/v.test(qualified) ? qualified : null;
}

export const Emoji = z
  .string()
  .meta({ maxLength: MAX_UNITS, description: 'Exactly one emoji.', examples: ['👍'] })
  .transform((value, context) => {
    const emoji = normalizeEmoji(value);
    if (emoji !== null) return emoji;
    context.issues.push({
      code: 'custom',
      params: { code: 'NOT_ONE_EMOJI' },
      message: 'Must be exactly one emoji.',
      input: value,
    });
    return z.NEVER;
  })
  .meta({ id: 'Emoji' });

export const Reaction = z.object({
  type: z.string(),
  count: z.number().int(),
  users: z.array(Person),
});
export type Reaction = z.infer<typeof Reaction>;

/** Returns the emoji to remove, from the body or, for proxies that drop the body of a DELETE, from the query. */
export const reactionToDelete = (asked: {
  body?: { type: string } | undefined;
  query: { type?: string | undefined };
}): string | undefined => asked.body?.type ?? asked.query.type;

export const reactions = room({
  create: {
    method: 'POST',
    path: '/api/comments/:id/reactions',
    summary: 'React to a comment with an emoji',
    body: z.strictObject({ type: Emoji }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['reaction.added'],
      tier: 'tier-4',
      scopes: [],
      subject: 'comment',
      roles: ANY_MEMBER,
      problems: ['REACTION_EXISTS'],
    },
  },
  delete: {
    method: 'DELETE',
    path: '/api/comments/:id/reactions',
    summary: 'Remove a reaction',
    description: 'The body or the query names the emoji; one of them is required.',
    query: z.strictObject({ type: Emoji.optional() }),
    body: z.strictObject({ type: Emoji }).optional(),
    responses: { 204: NO_BODY },
    metadata: { events: ['reaction.removed'], tier: 'tier-4', scopes: [], subject: 'comment', roles: ANY_MEMBER },
  },
  list: {
    method: 'GET',
    path: '/api/comments/:id/reactions',
    summary: 'List the reactions to a comment and the people who added them',
    responses: { 200: data(z.array(Reaction)) },
    metadata: { tier: 'tier-4', scopes: ['comments:read'], subject: 'comment', roles: ANY_MEMBER },
  },
});
