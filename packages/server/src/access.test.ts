import { createHash } from 'node:crypto';
import type { Client } from '@review/client';
import { contract, getForm, type Room, SCOPES, type Scope } from '@review/contract';
import { expect, test } from 'vitest';
import { SUBJECT_FINDERS } from './rooms/subjects.ts';
import { type House, json, onEachDatabase, PEOPLE, type Person, type PersonName } from './test/house.ts';
import { OPERATIONS, type Operation } from './test/operations.ts';
import { membershipOf, newcomer, newProject } from './test/people.ts';

const BYTES = 'x';
const UPLOAD = { name: 'a.txt', size: BYTES.length };
const PARTS = { parts: [{ partNumber: 1, eTag: createHash('md5').update(BYTES).digest('hex') }] };
const PERSON_NAMES = Object.keys(PEOPLE) as PersonName[];
/** The person who creates the subjects of all paths, and so is their author and starter. */
const MAKER: PersonName = 'owner';

interface Named {
  id: string;
  projectId: string;
  /** A person of the workspace who is a member of no project. */
  spareUserId: string;
}

/** A valid body of each operation that takes one. */
const BODIES: Record<string, (house: House, named: Named) => unknown> = {
  'QUERY /api/projects': () => ({}),
  'POST /api/projects': () => ({ name: 'New' }),
  'PATCH /api/projects/:id': () => ({ name: 'Renamed' }),
  'POST /api/projects/:id/folders': () => ({ name: 'New' }),
  'PATCH /api/folders/:id': () => ({ name: 'Renamed' }),
  'POST /api/projects/:id/members': (_, { spareUserId: id }) => ({
    members: [{ user: { id }, role: 'PROJECT_MEMBER' }],
  }),
  'PATCH /api/project-members/:id': () => ({ role: 'PROJECT_MEMBER' }),
  'POST /api/projects/:id/files/upload.generate': () => ({
    outputType: 'DOCUMENT',
    outputModel: 'markdown',
    prompt: 'A page.',
    folder: null,
    attachments: [],
  }),
  'QUERY /api/projects/:id/files': () => ({}),
  'PATCH /api/files/:id': () => ({ name: 'renamed.txt' }),
  'PATCH /api/files/:id/tag': () => ({ tag: 'APPROVED' }),
  'POST /api/projects/:id/files/upload.multipart': () => UPLOAD,
  'POST /api/projects/:id/generation-attachments/upload.multipart': () => UPLOAD,
  'POST /api/projects/:id/comment-attachments/upload.multipart': () => UPLOAD,
  'POST /api/files/:id/comment-attachments/upload.multipart': () => UPLOAD,
  'POST /api/files/:id/upload.complete': () => PARTS,
  'POST /api/generation-attachments/:id/upload.complete': () => PARTS,
  'POST /api/comment-attachments/:id/upload.complete': () => PARTS,
  'POST /api/projects/:id/versions': () => ({ name: 'First' }),
  'PATCH /api/versions/:id': () => ({ name: 'Renamed' }),
  'PATCH /api/versions/:id/status': () => ({ status: 'APPROVED' }),
  'POST /api/projects/:id/comments': () => ({ content: 'Good.' }),
  'POST /api/files/:id/comments': () => ({ content: 'Good.' }),
  'QUERY /api/projects/:id/comments': () => ({}),
  'QUERY /api/files/:id/comments': () => ({}),
  'QUERY /api/comments/:id/replies': () => ({}),
  'PATCH /api/comments/:id': () => ({ content: 'Better.' }),
  'POST /api/comments/:id/reactions': () => ({ type: '👍' }),
  'DELETE /api/comments/:id/reactions': () => ({ type: '👍' }),
  'QUERY /api/projects/:id/access-links': () => ({}),
  'QUERY /api/skills': () => ({}),
  'POST /api/projects/:id/access-links': () => ({ role: 'PROJECT_REVIEWER' }),
  'POST /api/project-access-links/redeem': async ({ people }, { projectId: id }) => {
    const { accessLinks } = people[MAKER].client;
    const link = await accessLinks.create({ params: { id }, body: { role: 'PROJECT_REVIEWER' } });
    return { accessKey: (await accessLinks.get({ params: { id: link.data.id } })).data.accessKey };
  },
  'POST /api/skills': () => ({ name: 'Skill', description: 'What it is for.' }),
  'PATCH /api/skills/:id': () => ({ name: 'Renamed' }),
  'POST /api/skills/:id/versions': () => ({ content: '# How' }),
};

/** The call that must precede an operation which undoes something of the caller. */
const BEFORE: Record<string, (client: Client, id: string) => Promise<unknown>> = {
  'DELETE /api/comments/:id/reactions': (client, id) =>
    client.reactions.create({ params: { id }, body: { type: '👍' } }),
};

type Started = { data: { id: string; parts: { url: string }[] } };

async function sent({ data: { id, parts } }: Started): Promise<string> {
  await fetch(parts[0]?.url ?? '', { method: 'PUT', body: BYTES });
  return id;
}

async function newFile({ people }: House, id: string): Promise<string> {
  const { files } = people[MAKER].client;
  const params = { id: await sent(await files.startUpload({ params: { id }, body: UPLOAD })) };
  await files.completeUpload({ params, body: PARTS });
  await files.update({ params, body: { allowRestricted: true } });
  return params.id;
}

async function newAttachment({ people }: House, id: string): Promise<string> {
  const { attachments, comments } = people[MAKER].client;
  const attachment = await sent(await attachments.start({ params: { id }, body: UPLOAD }));
  await attachments.complete({ params: { id: attachment }, body: PARTS });
  await comments.create({ params: { id }, body: { attachments: [{ id: attachment }] } });
  return attachment;
}

async function newSkill({ people }: House): Promise<{ id: string; versionId: string }> {
  const { skills } = people[MAKER].client;
  const { data } = await skills.create({ body: { name: 'Skill', description: 'What it is for.' } });
  await skills.publish({ params: { id: data.id }, body: { content: '# First' } });
  const second = await skills.publish({ params: { id: data.id }, body: { content: '# Second' } });
  return { id: data.id, versionId: second.data.id };
}

type Make = (house: House, projectId: string) => Promise<string>;

const unfinishedFile: Make = async ({ people }, id) => {
  const { files } = people[MAKER].client;
  const fileId = await sent(await files.startUpload({ params: { id }, body: UPLOAD }));
  await files.update({ params: { id: fileId }, body: { allowRestricted: true } });
  return fileId;
};
const unfinishedAttachment: Make = async ({ people }, id) =>
  sent(await people[MAKER].client.attachments.start({ params: { id }, body: UPLOAD }));
const unfinishedReference: Make = async ({ people }, id) =>
  sent(await people[MAKER].client.attachments.startForGeneration({ params: { id }, body: UPLOAD }));

const generatedFile: Make = async ({ people }, id) => {
  const { files, generation } = people[MAKER].client;
  const body = { outputType: 'DOCUMENT', outputModel: 'markdown', prompt: 'x', folder: null, attachments: [] } as const;
  const file = (await generation.generate({ params: { id }, body: { ...body, attachments: [] } })).data;
  await files.update({ params: file, body: { allowRestricted: true } });
  return file.id;
};

/** Creates a subject for each path, in a project with a member of each role. */
const REAL: Record<string, Make> = {
  projects: async (_, projectId) => projectId,
  files: newFile,
  folders: async ({ people }, id) =>
    (await people[MAKER].client.folders.create({ params: { id }, body: { name: 'Folder' } })).data.id,
  versions: async ({ people }, id) => {
    const body = { name: 'First', allowRestricted: true };
    return (await people[MAKER].client.versions.create({ params: { id }, body })).data.id;
  },
  'project-members': async (house, id) => {
    const target = await newcomer(house);
    const members = [{ user: { id: target.userId }, role: 'PROJECT_REVIEWER' as const }];
    await house.people[MAKER].client.members.add({ params: { id }, body: { members } });
    return membershipOf(target, id);
  },
  comments: async ({ people }, id) =>
    (await people[MAKER].client.comments.create({ params: { id }, body: { content: 'Good.' } })).data.id,
  'comment-attachments': newAttachment,
  'generation-attachments': unfinishedReference,
  'project-access-links': async ({ people }, id) =>
    (await people[MAKER].client.accessLinks.create({ params: { id }, body: { role: 'PROJECT_REVIEWER' } })).data.id,
  skills: async (house) => (await newSkill(house)).id,
  'skill-versions': async (house) => (await newSkill(house)).versionId,
};

/** Prepares subjects of operations that need another state. */
const IN_STATE: Record<string, Make> = {
  'GET /api/files/:id/generation': generatedFile,
  'POST /api/files/:id/upload.complete': unfinishedFile,
  'POST /api/files/:id/upload.cancel': unfinishedFile,
  'POST /api/comment-attachments/:id/upload.complete': unfinishedAttachment,
  'POST /api/comment-attachments/:id/upload.cancel': unfinishedAttachment,
};

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const ROUTES = Object.values<Room>(contract).flatMap((routes) =>
  Object.values(routes).flatMap((route) => [route, getForm(route) ?? []].flat().map(nameOf)),
);

/** The first segment of a path that names something, such as `projects`. */
const rootOf = ({ path }: Operation) => (path.includes(':id') ? path.split('/')[2] : undefined);
const isOfWorkspace = (operation: Operation) => rootOf(operation)?.startsWith('skill') === true;

/** The expected result by the rules, in the order of the checks. */
function expected(operation: Operation, name: PersonName | null, held: readonly Scope[]): string {
  if (name === null) return '401 MISSING_CREDENTIAL';
  const { scopes, roles, named, status } = operation;
  if (scopes.length > 0 && !scopes.some((scope) => held.includes(scope))) return '403 INSUFFICIENT_SCOPE';
  const success = `${status}`;
  const role = PEOPLE[name];
  if (nameOf(operation) === 'POST /api/project-access-links/redeem' || isOfWorkspace(operation)) {
    return name === 'foreigner' ? '404 NOT_FOUND' : success;
  }
  if (rootOf(operation) === undefined) return success;
  if (role === null) return '404 NOT_FOUND';
  if (named !== null && name === MAKER) return success;
  if (named === 'starter') return '404 NOT_FOUND';
  return roles.includes(role) ? success : '403 INSUFFICIENT_ROLE';
}

async function subjectOf(house: House, operation: Operation): Promise<Named> {
  const { owner, manager, member, reviewer, restricted } = house.people;
  const projectId = await newProject(owner, [
    [manager, 'PROJECT_MANAGER'],
    [member, 'PROJECT_MEMBER'],
    [reviewer, 'PROJECT_REVIEWER'],
    [restricted, 'PROJECT_RESTRICTED_REVIEWER'],
  ]);
  const make = IN_STATE[nameOf(operation)] ?? REAL[rootOf(operation) ?? ''];
  const id = make === undefined ? '' : await make(house, projectId);
  return { id, projectId, spareUserId: (await newcomer(house)).userId };
}

test('the table and the contract name the same operations', () => {
  expect(OPERATIONS.map(nameOf).sort()).toEqual(ROUTES.toSorted());
});

test('every kind of subject has an example', () => {
  expect(Object.keys(REAL)).toHaveLength(Object.keys(SUBJECT_FINDERS).length);
});

onEachDatabase((house) => {
  const admitted = new Map<string, Promise<Person>>();
  const personWith = (name: PersonName, scopes: readonly Scope[]) => {
    const wanted = `${name} ${scopes.join(' ')}`;
    const person = admitted.get(wanted) ?? house().withScopes(name, scopes);
    admitted.set(wanted, person);
    return person;
  };

  async function call(operation: Operation, subject: Named, person: Person | null) {
    const body = await BODIES[nameOf(operation)]?.(house(), subject);
    const authorization: Record<string, string> = person === null ? {} : { authorization: `Bearer ${person.key}` };
    const init = body === undefined ? { headers: authorization } : json(body, authorization);
    const response = await fetch(house().url + operation.path.replace(':id', subject.id), {
      method: operation.method,
      ...init,
    });
    const text = await response.text();
    return response.ok ? `${response.status}` : `${response.status} ${JSON.parse(text).code}`;
  }

  test.each(OPERATIONS)('$method $path allows exactly the callers that the rules name', async (operation) => {
    const untouched = await subjectOf(house(), operation);
    const { scopes } = operation;
    const credentials: (readonly Scope[])[] =
      scopes.length === 0
        ? [[]]
        : [...scopes.map((scope) => [scope]), SCOPES.filter((scope) => !scopes.includes(scope))];
    const cells = [null, ...PERSON_NAMES].flatMap((name) => credentials.map((held) => ({ name, held })));

    const answers = await Promise.all(
      cells.map(async ({ name, held }) => {
        const wanted = expected(operation, name, held);
        // An allowed caller may change the subject that the next caller needs.
        const changes = wanted.startsWith('2') && operation.method !== 'GET' && operation.method !== 'QUERY';
        const subject = changes ? await subjectOf(house(), operation) : untouched;
        const person = name && (await personWith(name, held));
        if (person !== null && wanted.startsWith('2')) await BEFORE[nameOf(operation)]?.(person.client, subject.id);
        const answer = await call(operation, subject, person);
        const who = `${name ?? 'nobody'} with ${held.length > 5 ? 'every other scope' : held.join(' ') || 'no scope'}`;
        return { wanted: `${who}: ${wanted}`, answer: `${who}: ${answer}` };
      }),
    );
    expect(answers.map(({ answer }) => answer)).toEqual(answers.map(({ wanted }) => wanted));
  });
});
