import type { Client } from '@review/client';
import { createWorkerClient } from '@review/client/worker';
import {
  type Contract,
  contract,
  EVENT_STREAM,
  getForm,
  type ProjectRole,
  type Room,
  SCOPES,
  type Scope,
  type Tier,
} from '@review/contract';
import { describe, expect, test } from 'vitest';
import { type House, json, PEOPLE, type Person, type PersonName } from './house.ts';
import { membershipOf, newcomer, newProject } from './people.ts';

/** An operation of the specification's table: who may call it, and how it succeeds. */
export interface Operation {
  method: string;
  path: string;
  /** One of them suffices; none where any credential does. */
  scopes: Scope[];
  /** None where the operation is not about a project. */
  roles: ProjectRole[];
  /** The person that the record names, in addition to or instead of the roles. */
  named: 'starter' | 'author' | null;
  tier: Tier | undefined;
  tool: string | undefined;
  status: number;
}

export interface Named {
  id: string;
  projectId: string;
  /** A person of the workspace who is a member of no project. */
  spareUserId: string;
}

/** A valid body of each operation that takes one, by method and path; a query string for one that needs it. */
export type Bodies = Record<string, (house: House, named: Named) => unknown>;

const BYTES = 'x';
export const UPLOAD = { name: 'a.txt', size: BYTES.length };
const PERSON_NAMES = Object.keys(PEOPLE) as PersonName[];
/** The person who creates the subjects of all paths, and so is their author and starter. */
export const MAKER: PersonName = 'owner';

/** The call that must precede an operation which undoes something of the caller. */
const BEFORE: Record<string, (client: Client, id: string) => Promise<unknown>> = {
  'DELETE /api/comments/:id/reactions': (client, id) =>
    client.reactions.create({ params: { id }, body: { type: '👍' } }),
};

type Started = { data: { id: string; parts: { url: string }[] } };

/** Of the parts that were sent, by upload. */
const eTags = new Map<string, string>();

async function sent({ data: { id, parts } }: Started): Promise<string> {
  const { headers } = await fetch(parts[0]?.url ?? '', { method: 'PUT', body: BYTES });
  eTags.set(id, headers.get('etag') ?? '');
  return id;
}

/** The body that completes an upload of `subjectOf`. */
export const partsOf = ({ id }: Pick<Named, 'id'>) => ({ parts: [{ partNumber: 1, eTag: eTags.get(id) ?? '' }] });

async function newFile({ people }: House, id: string): Promise<string> {
  const { files } = people[MAKER].client;
  const params = { id: await sent(await files.startUpload({ params: { id }, body: UPLOAD })) };
  await files.completeUpload({ params, body: partsOf(params) });
  await files.update({ params, body: { allowRestricted: true } });
  return params.id;
}

async function newAttachment({ people }: House, id: string): Promise<string> {
  const { attachments, comments } = people[MAKER].client;
  const attachment = { id: await sent(await attachments.start({ params: { id }, body: UPLOAD })) };
  await attachments.complete({ params: attachment, body: partsOf(attachment) });
  await comments.create({ params: { id }, body: { attachments: [attachment] } });
  return attachment.id;
}

async function newSkill({ people }: House): Promise<{ id: string; versionId: string }> {
  const { skills } = people[MAKER].client;
  const { data } = await skills.create({ body: { name: 'Skill', description: 'What it is for.' } });
  await skills.publish({ params: { id: data.id }, body: { content: '# First' } });
  const second = await skills.publish({ params: { id: data.id }, body: { content: '# Second' } });
  return { id: data.id, versionId: second.data.id };
}

async function newWebhook({ people }: House, id: string): Promise<string> {
  const body = { url: 'https://receiver.example.com/hook' };
  return (await people[MAKER].client.webhooks.create({ params: { id }, body })).data.id;
}

/** The delivery of the event that tells of its webhook. */
async function newDelivery(house: House, projectId: string): Promise<string> {
  const { url: baseUrl, deps, people } = house;
  const params = { id: await newWebhook(house, projectId) };
  const worker = createWorkerClient({ baseUrl, token: deps.config.workerToken });
  await worker.exchangeDeliveries({ params, body: { epoch: null, outcomes: [], most: 1 } });
  const { data } = await people[MAKER].client.webhooks.deliveries({ params, body: {} });
  return data[0]?.id ?? '';
}

type Make = (house: House, projectId: string) => Promise<string>;

const trashedFile: Make = async (house, projectId) => {
  const id = await newFile(house, projectId);
  await house.people[MAKER].client.files.delete({ params: { id } });
  return id;
};

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
  webhooks: newWebhook,
  'webhook-deliveries': newDelivery,
  skills: async (house) => (await newSkill(house)).id,
  'skill-versions': async (house) => (await newSkill(house)).versionId,
};

/** Prepares subjects of operations that need another state. */
const IN_STATE: Record<string, Make> = {
  'GET /api/files/:id/generation': generatedFile,
  'POST /api/files/:id/restore': trashedFile,
  'POST /api/files/:id/upload.complete': unfinishedFile,
  'POST /api/files/:id/upload.cancel': unfinishedFile,
  'POST /api/comment-attachments/:id/upload.complete': unfinishedAttachment,
  'POST /api/comment-attachments/:id/upload.cancel': unfinishedAttachment,
};

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

const rowOf = (
  route: { method: string; path: string },
  rules: { tier?: Tier | undefined; tool?: string | undefined },
) => `${nameOf(route)} | ${rules.tier} | ${rules.tool}`;

/** The first segment of a path that names something, such as `projects`. */
const rootOf = ({ path }: Pick<Operation, 'path'>) => (path.includes(':id') ? path.split('/')[2] : undefined);
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
  // A folder without a file that restricted reviewers may see is hidden from them.
  if (rootOf(operation) === 'folders' && name === 'restricted') return '404 NOT_FOUND';
  if (named !== null && name === MAKER) return success;
  if (named === 'starter') return '404 NOT_FOUND';
  return roles.includes(role) ? success : '403 INSUFFICIENT_ROLE';
}

/** Makes what the path names, in a new project with a member of each role. */
export async function subjectOf(house: House, operation: Pick<Operation, 'method' | 'path'>): Promise<Named> {
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

const ROLES: Record<string, ProjectRole> = {
  O: 'PROJECT_OWNER',
  M: 'PROJECT_MANAGER',
  Mb: 'PROJECT_MEMBER',
  R: 'PROJECT_REVIEWER',
  RR: 'PROJECT_RESTRICTED_REVIEWER',
};

const TIERS: Record<string, Tier> = { D: 'default', 2: 'tier-2', 3: 'tier-3', 4: 'tier-4' };

const words = (cell: string) => (cell === '-' ? [] : cell.split(' '));

const operationsIn = (table: string): Operation[] =>
  table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [call = '', scopes = '', roles = '', tier = '', tool, status] = line.split('|').map((cell) => cell.trim());
      const [method = '', path = ''] = call.split(/ +/);
      const operation: Operation = {
        method,
        path,
        scopes: words(scopes) as Scope[],
        roles: words(roles.replace('member', 'O M Mb R RR')).flatMap((role) => ROLES[role] ?? []),
        named: roles.startsWith('starter') ? 'starter' : roles.startsWith('author') ? 'author' : null,
        tier: TIERS[tier],
        tool: tool === '-' ? undefined : tool,
        status: Number(status),
      };
      // Section 7 of the design: every QUERY list is also a GET.
      return method === 'QUERY' ? [operation, { ...operation, method: 'GET' }] : [operation];
    });

/**
 * Tests every operation of a room with every person, with and without its scope. A row is
 * `method path | scopes | roles | tier | tool | success`.
 */
export function testAccess(house: () => House, room: keyof Contract, table: string, bodies: Bodies = {}): void {
  const operations = operationsIn(table);
  const people = new Map<string, Promise<Person>>();
  const personWith = (name: PersonName, scopes: readonly Scope[]) => {
    const wanted = `${name} ${scopes.join(' ')}`;
    const person = people.get(wanted) ?? house().withScopes(name, scopes);
    people.set(wanted, person);
    return person;
  };

  async function call(operation: Operation, subject: Named, person: Person | null) {
    const body = await bodies[nameOf(operation)]?.(house(), subject);
    const authorization: Record<string, string> = person === null ? {} : { authorization: `Bearer ${person.key}` };
    const query = typeof body === 'string' ? body : '';
    const init = body === undefined || query !== '' ? { headers: authorization } : json(body, authorization);
    const response = await fetch(house().url + operation.path.replace(':id', subject.id) + query, {
      method: operation.method,
      ...init,
    });
    if (response.headers.get('content-type')?.startsWith(EVENT_STREAM)) {
      await response.body?.cancel();
      return `${response.status}`;
    }
    const text = await response.text();
    return response.ok ? `${response.status}` : `${response.status} ${JSON.parse(text).code}`;
  }

  describe('access', () => {
    test('the table names the operations of the contract, with their tier and tool', () => {
      const routes = Object.values<Room[string]>(contract[room]).flatMap((route) =>
        [route, getForm(route) ?? []].flat(),
      );
      expect(operations.map((operation) => rowOf(operation, operation)).sort()).toEqual(
        routes.map((route) => rowOf(route, route.metadata)).sort(),
      );
    });

    test.each(operations)('$method $path allows exactly the callers that the rules name', async (operation) => {
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
}
