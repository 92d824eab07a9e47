import { type Contract, EVENTS } from '@review/contract';
import type { Deps } from '../../deps.ts';
import { cursors } from '../../request/cursors.ts';
import type { Handlers } from '../handler.ts';
import { isRestricted } from '../visibility.ts';
import { EventFeed } from './feed.ts';
import { listActivity } from './queries.ts';
import { toActivity } from './response.ts';
import { readableTypes, type Sent, streamEvents } from './stream.ts';

async function* textOf(stream: AsyncIterable<Sent>): AsyncGenerator<string, void> {
  for await (const { text } of stream) yield text;
}

export const events = (deps: Deps): Handlers<Contract['events']> => {
  const { db, secrets, stopping } = deps;
  const feed = new EventFeed(deps);
  return {
    async stream({ caller, subject: project, query, disconnected, isCredentialValid, findSubject }) {
      const credential = { id: caller.credentialId, isValid: isCredentialValid };
      const stream = feed.open(project.id, credential, AbortSignal.any([disconnected(), stopping]));
      const sent = streamEvents({
        db,
        feed,
        stream,
        projectId: project.id,
        role: project.role,
        reader: { ...caller, findRole: async () => (await findSubject())?.role },
        after: query.after === undefined ? null : Number(query.after),
      });
      return textOf(sent);
    },

    async list({ caller, subject: project, body: { types, actor, subject, next, prev } }) {
      const filters = { types, actorId: actor?.id, subjectId: subject?.id };
      const pages = cursors(secrets.cursor, `activity of ${project.id}`, filters);
      const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
      const readable = readableTypes(caller.scopes, project.role);
      const asked = types ?? EVENTS.map(({ type }) => type);
      const found = await listActivity(
        db,
        page,
        { ...filters, projectId: project.id, types: asked.filter((type) => readable.has(type)) },
        isRestricted(project.role),
      );
      return pages.answer({ ...found, items: await toActivity(db, caller.workspaceId, found.items) }, (item) => item);
    },
  };
};
