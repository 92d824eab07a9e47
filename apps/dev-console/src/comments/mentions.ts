import { contract, mentionOf, type Person, type ProjectMember, replaceMentions } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { queryClient } from '../api.ts';
import { membersQuery } from '../members/queries.ts';
import { useRefusal } from '../session/access.ts';

/** Who sees a comment. */
export interface Audience {
  projectId: string;
  /** Whether restricted reviewers do. */
  allowRestricted: boolean;
}

/** A person with the words that mention them after an `@`. */
interface Labelled {
  id: string;
  label: string;
}
export type Mentionable = Labelled & ProjectMember['user'];

/** The members who see a comment. The e-mail address tells apart those with the same name. */
function mentionable(members: readonly ProjectMember[], allowRestricted: boolean): Mentionable[] {
  const people = members.filter(({ role }) => allowRestricted || role !== 'PROJECT_RESTRICTED_REVIEWER');
  const namesakes = Map.groupBy(people, ({ user }) => user.name);
  return people.map(({ user }) => {
    const isUnique = namesakes.get(user.name)?.length === 1;
    return { ...user, label: isUnique ? user.name : `${user.name} (${user.email})` };
  });
}

/** The people to choose from; none until `enabled`, and none if the key cannot list members. */
export function useMentionable({ projectId, allowRestricted }: Audience, enabled: boolean): Mentionable[] {
  const isAllowed = useRefusal()(contract.members.list) === null;
  const { data } = useQuery({ ...membersQuery(projectId), enabled: enabled && isAllowed });
  return mentionable(data ?? [], allowRestricted);
}

/** Returns a function that puts tokens in place of the people that a text mentions: members, and those `before`. */
export function useMentionWriter({ projectId, allowRestricted }: Audience) {
  const isAllowed = useRefusal()(contract.members.list) === null;
  return async (text: string, before: readonly Person[] = []): Promise<string> => {
    if (!text.includes('@')) return text;
    const members = isAllowed ? await queryClient.ensureQueryData(membersQuery(projectId)) : [];
    return withTokens(text, [...byName(before), ...mentionable(members, allowRestricted)]);
  };
}

const byName = (people: readonly Person[]) => people.map(({ id, name }) => ({ id, label: name }));
const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** Puts tokens in place of labels. The first of two people with the same label counts. */
function withTokens(text: string, people: readonly Labelled[]): string {
  const ids = new Map(people.toReversed().map(({ id, label }) => [label, id]));
  const labels = [...ids.keys()].filter((label) => text.includes(`@${label}`));
  if (labels.length === 0) return text;
  const longestFirst = labels.sort((a, b) => b.length - a.length).map(escaped);
  const mention = new RegExp(`(?<![\\p{L}\\p{N}_])@(${longestFirst.join('|')})(?![\\p{L}\\p{N}_])`, 'gu');
  return text.replace(mention, (_, label: string) => mentionOf(ids.get(label) ?? ''));
}

/** The content to edit, with names; the content itself if `withTokens` could not read it back, as with namesakes. */
export function editableText(content: string, mentions: readonly Person[]): string {
  const names = new Map(mentions.map(({ id, name }) => [id, name]));
  const text = replaceMentions(content, (id) => (names.has(id) ? `@${names.get(id)}` : mentionOf(id)));
  return withTokens(text, byName(mentions)) === content ? text : content;
}
