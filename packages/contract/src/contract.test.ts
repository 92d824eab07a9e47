import { describe, expect, it } from 'vitest';
import { contract, type Room, type Route, SUBJECT_IDS } from './index.ts';

const rooms: Record<string, Room> = contract;
const routes = new Map<string, Route>(
  Object.entries(rooms).flatMap(([room, verbs]) =>
    Object.entries(verbs).map(([verb, route]) => [`${room}.${verb}`, route] as const),
  ),
);

describe('every route', () => {
  it.each([...routes])('%s has rules that fit its path', (_, route) => {
    expect(route.summary).not.toBe('');
    expect(Object.keys(route.responses)).toHaveLength(1);
    expect(route.metadata.subject !== null).toBe(route.path.includes(':id'));
    const { subject, roles } = route.metadata;
    if (subject !== null) expect(Object.keys(SUBJECT_IDS)).toContain(subject);
    const ofWorkspace = subject === null || subject === 'skill' || subject === 'skill-version';
    expect(roles.length === 0).toBe(ofWorkspace);
  });

  it('has a unique tool name and address', () => {
    const all = [...routes.values()];
    const tools = all.flatMap((route) => route.metadata.tool ?? []);
    const addresses = all.map((route) => `${route.method} ${route.path}`);
    expect(new Set(tools).size).toBe(tools.length);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it('that creates a record has a location, or null', () => {
    const silent = [...routes].filter(([, route]) => 201 in route.responses && route.metadata.location === undefined);
    expect(silent.map(([key]) => key)).toEqual([]);
    const readable = [...routes.values()].filter(({ method }) => method === 'GET').map(({ path }) => path);
    for (const { metadata } of routes.values()) if (metadata.location) expect(readable).toContain(metadata.location);
  });

  it('that changes a record with an ETag supports If-Match', () => {
    const tagged = [...routes.values()].flatMap(({ metadata }) => (metadata.conditional ? [metadata.subject] : []));
    expect(tagged.sort()).toEqual(['comment', 'file', 'project', 'skill', 'version']);
    for (const [key, { method, metadata }] of routes) {
      const changes = method === 'PATCH' && tagged.includes(metadata.subject);
      expect([key, metadata.ifMatch ?? false]).toEqual([key, changes]);
    }
  });

  it('has a larger body limit only for lists of upload parts', () => {
    const larger = [...routes].filter(([, route]) => route.metadata.bodyLimit !== undefined);
    expect(larger.map(([, route]) => [route.path.split('/').at(-1), route.metadata.bodyLimit])).toEqual(
      Array.from({ length: 3 }, () => ['upload.complete', 4 * 1024 * 1024]),
    );
  });
});
