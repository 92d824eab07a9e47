import { contract, type Route, SCOPES, type Scope } from '@review/contract';
import { expect, test } from 'vitest';
import { SUBJECT_FINDERS } from './http/subjects.ts';
import { rooms } from './rooms.ts';
import { type House, json, onEachDatabase, PEOPLE, type PersonName } from './test/house.ts';
import { OPERATIONS, type Operation } from './test/operations.ts';
import { membershipOf, newcomer, newProject } from './test/people.ts';

const UPLOAD = { name: 'a.png', size: 1 };
const PERSON_NAMES = Object.keys(PEOPLE) as PersonName[];

/** A body that each operation takes, where it takes one and what it is about exists already. */
const BODIES: Record<string, (spareUserId: string) => unknown> = {
  'QUERY /api/projects': () => ({}),
  'POST /api/projects': () => ({ name: 'New' }),
  'PATCH /api/projects/:id': () => ({ name: 'Renamed' }),
  'POST /api/projects/:id/folders': () => ({ name: 'New' }),
  'PATCH /api/folders/:id': () => ({ name: 'Renamed' }),
  'POST /api/projects/:id/members': (id) => ({ members: [{ user: { id }, role: 'PROJECT_MEMBER' }] }),
  'PATCH /api/project-members/:id': () => ({ role: 'PROJECT_MEMBER' }),
  'POST /api/projects/:id/files/upload.generate': () => ({
    outputType: 'DOCUMENT',
    outputModel: 'markdown',
    prompt: 'A page.',
    folder: null,
    attachments: [],
  }),
  'QUERY /api/projects/:id/files': () => ({}),
  'POST /api/projects/:id/files/upload.multipart': () => UPLOAD,
  'POST /api/projects/:id/generation-attachments/upload.multipart': () => UPLOAD,
  'POST /api/projects/:id/comment-attachments/upload.multipart': () => UPLOAD,
  'POST /api/projects/:id/versions': () => ({ name: 'First' }),
  'POST /api/projects/:id/comments': () => ({ content: 'Good.' }),
  'QUERY /api/projects/:id/comments': () => ({}),
  'QUERY /api/projects/:id/access-links': () => ({}),
  'POST /api/projects/:id/access-links': () => ({ role: 'PROJECT_REVIEWER' }),
  'POST /api/project-access-links/redeem': () => ({ accessKey: 'unknown' }),
  'POST /api/skills': () => ({ name: 'Skill', description: 'What it is for.' }),
};

/** Ids that are well formed and name nothing, for what no room can make yet. */
const UNKNOWN: Record<string, string> = {
  files: 'FX00000000000000000000',
  'generation-attachments': 'GA00000000000000000000',
  'comment-attachments': 'CA00000000000000000000',
  versions: '0195c2de-1234-7abc-8def-0123456789ab',
  comments: '0195c2de-1234-7abc-8def-0123456789ab',
  'project-access-links': '0195c2de-1234-7abc-8def-0123456789ab',
  skills: 'SK00000000000000000000',
  'skill-versions': 'SV00000000000000000000',
};

/** Real things to name in the path: in a project where everybody has their role. */
const REAL: Record<string, (house: House, projectId: string) => Promise<string>> = {
  projects: async (_, projectId) => projectId,
  folders: async ({ people }, id) =>
    (await people.owner.client.folders.create({ params: { id }, body: { name: 'Folder' } })).data.id,
  'project-members': async (house, id) => {
    const target = await newcomer(house);
    const members = [{ user: { id: target.userId }, role: 'PROJECT_REVIEWER' as const }];
    await house.people.owner.client.members.add({ params: { id }, body: { members } });
    return membershipOf(target, id);
  },
};

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const ROUTES = Object.entries(contract).flatMap(([room, routes]) =>
  Object.values<Route>(routes).map((route) => ({ room, name: nameOf(route) })),
);

/** The first segment of a path that names something, such as `projects`. */
const rootOf = ({ path }: Operation) => (path.includes(':id') ? path.split('/')[2] : undefined);

/** What the rules say, in the order in which they are checked. */
function expected(operation: Operation, name: PersonName | null, held: readonly Scope[], pending: boolean): string {
  if (name === null) return '401 MISSING_CREDENTIAL';
  const { scopes, roles, status } = operation;
  if (scopes.length > 0 && !scopes.some((scope) => held.includes(scope))) return '403 INSUFFICIENT_SCOPE';
  const root = rootOf(operation);
  if (root !== undefined) {
    if (!(root in REAL)) return '501 NOT_IMPLEMENTED';
    const role = PEOPLE[name];
    if (role === null) return '404 NOT_FOUND';
    if (!roles.includes(role)) return '403 INSUFFICIENT_ROLE';
  }
  return pending ? '501 NOT_IMPLEMENTED' : `${status}`;
}

async function subjectOf(house: House, operation: Operation): Promise<string> {
  const root = rootOf(operation) ?? '';
  const make = REAL[root];
  if (make === undefined) return UNKNOWN[root] ?? '';
  const { owner, manager, member, reviewer, restricted } = house.people;
  const project = await newProject(owner, [
    [manager, 'PROJECT_MANAGER'],
    [member, 'PROJECT_MEMBER'],
    [reviewer, 'PROJECT_REVIEWER'],
    [restricted, 'PROJECT_RESTRICTED_REVIEWER'],
  ]);
  return make(house, project);
}

test('the table and the contract name the same operations', () => {
  expect(OPERATIONS.map(nameOf).sort()).toEqual(ROUTES.map(({ name }) => name).sort());
});

test('everything that the server can find has a real example here', () => {
  expect(Object.keys(SUBJECT_FINDERS).map((subject) => `${subject}s`)).toEqual(
    expect.arrayContaining(Object.keys(REAL)),
  );
  expect(Object.keys(REAL)).toHaveLength(Object.keys(SUBJECT_FINDERS).length);
});

onEachDatabase((house) => {
  const keys = new Map<string, Promise<string>>();
  const keyOf = (name: PersonName, scopes: readonly Scope[]) => {
    const wanted = `${name} ${scopes.join(' ')}`;
    const key =
      keys.get(wanted) ??
      house()
        .withScopes(name, scopes)
        .then((person) => person.key);
    keys.set(wanted, key);
    return key;
  };

  async function call(
    operation: Operation,
    id: string,
    name: PersonName | null,
    scopes: readonly Scope[],
    spare: string,
  ) {
    const body = BODIES[nameOf(operation)]?.(spare);
    const authorization: Record<string, string> =
      name === null ? {} : { authorization: `Bearer ${await keyOf(name, scopes)}` };
    const init = body === undefined ? { headers: authorization } : json(body, authorization);
    const response = await fetch(house().url + operation.path.replace(':id', id), {
      method: operation.method,
      ...init,
    });
    const text = await response.text();
    return response.ok ? `${response.status}` : `${response.status} ${JSON.parse(text).code}`;
  }

  test.each(OPERATIONS)('$method $path admits exactly whom the rules name', async (operation) => {
    const room = ROUTES.find(({ name }) => name === nameOf(operation))?.room ?? '';
    const pending = !(room in rooms(house().deps));
    const spare = await newcomer(house());
    const untouched = await subjectOf(house(), operation);
    const { scopes } = operation;
    const credentials: (readonly Scope[])[] =
      scopes.length === 0
        ? [[]]
        : [...scopes.map((scope) => [scope]), SCOPES.filter((scope) => !scopes.includes(scope))];
    const cells = [null, ...PERSON_NAMES].flatMap((name) => credentials.map((held) => ({ name, held })));

    const answers = await Promise.all(
      cells.map(async ({ name, held }) => {
        const wanted = expected(operation, name, held, pending);
        // Whoever is let in may change what others are still to be refused.
        const changes = wanted.startsWith('2') && operation.method !== 'GET' && operation.path.includes(':id');
        const id = changes ? await subjectOf(house(), operation) : untouched;
        const answer = await call(operation, id, name, held, spare.userId);
        const who = `${name ?? 'nobody'} with ${held.length > 5 ? 'every other scope' : held.join(' ') || 'no scope'}`;
        return { wanted: `${who}: ${wanted}`, answer: `${who}: ${answer}` };
      }),
    );
    expect(answers.map(({ answer }) => answer)).toEqual(answers.map(({ wanted }) => wanted));
  });
});
