import type { ServerEventBus } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { disconnectSignal } from '../http/disconnect-signal.ts';
import { EventFeed } from '../rooms/events/feed.ts';
import { type Sent, streamEvents } from '../rooms/events/stream.ts';
import { findVisibleFile } from '../rooms/files/queries.ts';
import { findVisibleProject } from '../rooms/projects/queries.ts';
import type { Operations } from './operations.ts';
import { resourceAt } from './resource-kinds.ts';
import type { ToolRequest } from './run.ts';

type Listener = Parameters<ServerEventBus['subscribe']>[0];

/** Begins to tell of changes, including those since it was opened. */
export type Subscription = (listener: Listener) => void;

const MAX_RESOURCES = 100;

const Subscribed = z.object({
  method: z.literal('subscriptions/listen'),
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()).max(MAX_RESOURCES) }) }),
});

/** The events of a project, and the URIs of the files in it by their ids. */
interface Followed {
  sent: AsyncGenerator<Sent, void>;
  uris: ReadonlyMap<string, string[]>;
}

/**
 * Returns a function that opens the subscription of a message to resources, or returns null if it is none. A subscription follows
 * the events of the projects of its files, as its caller may see them. Skills belong to no project and have no events.
 */
export function subscriptionOpener(deps: Deps, operations: Operations) {
  const { db, log } = deps;
  const feed = new EventFeed(deps);

  /** Finds the projects of the files, and the URIs of each file. Leaves out what the caller may not read. */
  async function findFiles({ caller }: ToolRequest, uris: string[]): Promise<Map<string, Map<string, string[]>>> {
    const projects = new Map<string, Map<string, string[]>>();
    for (const uri of uris) {
      const found = resourceAt(uri);
      if (found === undefined || !operations.hasScope(found.operation, caller)) continue;
      const file = await findVisibleFile(db, { ...caller, id: found.id });
      if (file === undefined) continue;
      const files = projects.get(file.project_id) ?? new Map<string, string[]>();
      projects.set(file.project_id, files.set(file.id, [...(files.get(file.id) ?? []), uri]));
    }
    return projects;
  }

  async function* eventsOf(
    { caller }: ToolRequest,
    projectId: string,
    signal: AbortSignal,
  ): AsyncGenerator<Sent, void> {
    const findProject = () => findVisibleProject(db, { ...caller, id: projectId });
    // The endpoint ends the response when the credential is no longer valid.
    const stream = feed.open(projectId, { id: caller.credentialId, isValid: async () => true }, signal);
    const project = await findProject();
    if (project === undefined) return;
    const reader = { ...caller, findRole: async () => (await findProject())?.role };
    yield* streamEvents({ db, feed, stream, projectId, role: project.role, reader, after: null });
  }

  async function tell({ sent, uris }: Followed, listener: Listener): Promise<void> {
    for await (const { events } of sent) {
      const changed = new Set(events.flatMap((event) => uris.get(event.subject_id) ?? []));
      for (const uri of changed) listener({ kind: 'resource_updated', uri });
    }
  }

  return async (toolRequest: ToolRequest, body: unknown): Promise<Subscription | null> => {
    const subscribed = Subscribed.safeParse(body).data;
    if (subscribed === undefined) return null;
    const signal = disconnectSignal(toolRequest.response);
    const files = await findFiles(toolRequest, subscribed.params.notifications.resourceSubscriptions);
    const followed = Array.from(files, ([projectId, uris]) => ({
      sent: eventsOf(toolRequest, projectId, signal),
      uris,
    }));
    // The first result has the position after which events are sent, so that none is missed after the acknowledgement.
    await Promise.all(followed.map(({ sent }) => sent.next()));
    return (listener) => {
      for (const project of followed) {
        tell(project, listener).catch((error: unknown) =>
          log.warn({ err: error }, 'subscription of a tool client failed'),
        );
      }
    };
  };
}
