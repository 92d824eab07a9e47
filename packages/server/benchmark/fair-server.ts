// The baseline: Express and the database drivers by hand, on the schema of the service. It does the same work for the same
// answers with prepared statements, but has no schema validation, log, rate limit or metric. Takes its port and the
// database URL as arguments.
import { createHash, createHmac, randomUUID } from 'node:crypto';
import express, { type Request, type Response } from 'express';
import type { Selectable } from 'kysely';
import { fold } from '../src/db/fold.ts';
import { newUuid } from '../src/db/ids.ts';
import type { Schema } from '../src/db/schema.ts';
import { now } from '../src/db/time.ts';
import { openFairDatabase } from './fair-database.ts';
import { type CommentRow, fairQueries } from './fair-queries.ts';

const [port = '', databaseUrl = ''] = process.argv.slice(2);
const PAGE_SIZE = 50;
const CREDENTIAL_TTL_MS = 500;
/** Longer than a round of the benchmark, as in the service. */
const KEEP_ALIVE_MS = 75_000;

const database = openFairDatabase(databaseUrl);
const { insertsInWith } = database;
const queries = fairQueries(database);

class Refusal extends Error {
  readonly status: number;
  constructor(status: number) {
    super(String(status));
    this.status = status;
  }
}

type Credential = Selectable<Schema['api_keys']>;
const credentials = new Map<string, { credential: Credential; until: number }>();

async function identify(request: Request, scope?: string): Promise<Credential> {
  const token = /^Bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];
  if (token === undefined) throw new Refusal(401);
  const hash = createHash('sha256').update(token).digest('hex');
  const credential = await findCredential(hash);
  if (credential.revoked_at !== null || (credential.expires_at !== null && credential.expires_at <= now()))
    throw new Refusal(401);
  if (scope !== undefined && !credential.scopes.split(' ').includes(scope)) throw new Refusal(403);
  return credential;
}

async function findCredential(hash: string): Promise<Credential> {
  const cached = credentials.get(hash);
  if (cached && cached.until > performance.now()) return cached.credential;
  const [credential] = await queries.credential(hash);
  if (credential === undefined) throw new Refusal(401);
  credentials.set(hash, { credential, until: performance.now() + CREDENTIAL_TTL_MS });
  return credential;
}

async function getProject(caller: Credential, id: string) {
  const [project] = await queries.project(caller.user_id, caller.workspace_id, id);
  if (project === undefined) throw new Refusal(404);
  return project;
}

const isHidden = (role: string, allowed: number | null) => role === 'PROJECT_RESTRICTED_REVIEWER' && allowed !== 1;

async function partsOf(caller: Credential, comments: CommentRow[]) {
  const ids = comments.map(({ id }) => id);
  const authorIds = [...new Set(comments.map((comment) => comment.author_id))];
  const authors = await queries.authors(caller.workspace_id, authorIds);
  const attachments = await queries.attachments(ids);
  const reactions = await queries.reactions(caller.user_id, ids);
  const replies = await queries.replies(ids);
  return {
    authors: new Map(authors.map((author) => [author.id, author])),
    attachments: Map.groupBy(attachments, ({ commentId }) => commentId),
    reactions: Map.groupBy(reactions, ({ commentId }) => commentId),
    replies: new Map(replies.map(({ parentId, count }) => [parentId, count])),
  };
}

async function commentsToResponse(caller: Credential, comments: CommentRow[]) {
  const parts = await partsOf(caller, comments);
  return comments.map((comment) => ({
    id: comment.id,
    content: comment.content,
    // The comments of the benchmark have no mentions.
    mentions: [],
    author: comment.deleted_at === null ? (parts.authors.get(comment.author_id) ?? null) : null,
    project: { id: comment.project_id },
    file: comment.file_id === null ? null : { id: comment.file_id },
    parent: comment.parent_id === null ? null : { id: comment.parent_id },
    anchor: comment.anchor,
    duration: comment.duration,
    annotation: comment.annotation === null ? null : JSON.parse(comment.annotation),
    attachments: (parts.attachments.get(comment.id) ?? []).map(({ id, name, mimeType, size }) => ({
      id,
      name,
      mimeType,
      size,
    })),
    reactions: (parts.reactions.get(comment.id) ?? []).map(({ type, count, reacted }) => ({
      type,
      count,
      reacted: reacted === 1,
    })),
    replies: { count: parts.replies.get(comment.id) ?? 0 },
    resolvedAt: comment.resolved_at,
    deletedAt: comment.deleted_at,
    createdAt: comment.created_at,
    updatedAt: comment.updated_at,
  }));
}

function sealCursor({ created_at: createdAt, id }: CommentRow): string {
  const payload = Buffer.from(JSON.stringify(['next', createdAt, id, false]));
  const mac = createHmac('sha256', 'benchmark').update(payload).digest().subarray(0, 16);
  return Buffer.concat([mac, payload]).toString('base64url');
}

function sendWithETag(response: Response, answer: object): void {
  const body = JSON.stringify(answer);
  response.set('ETag', `"${createHash('sha256').update(body).digest('base64url')}"`);
  response.type('json').send(body);
}

const app = express().disable('x-powered-by').disable('etag');
app.use((_request, response, next) => {
  response.set('X-Request-Id', randomUUID());
  next();
});

app.get('/readyz', (_request, response) => void response.json({}));

app.get('/api/ping', async (request, response) => {
  const caller = await identify(request);
  const [workspace] = await queries.workspace(caller.workspace_id);
  if (workspace === undefined) throw new Refusal(404);
  const { id, name, avatar_url: avatarUrl } = workspace;
  response.json({ data: { pong: true, workspace: { id, name, avatarUrl }, scopes: caller.scopes.split(' ') } });
});

app.get('/api/comments/:id', async (request, response) => {
  const caller = await identify(request, 'comments:read');
  const [comment] = await queries.comment(caller.user_id, caller.workspace_id, request.params.id);
  if (comment === undefined || (comment.file_id !== null && isHidden(comment.role, comment.file_allowed)))
    throw new Refusal(404);
  const [data] = await commentsToResponse(caller, [comment]);
  sendWithETag(response, { data });
});

// Node supports the method since version 22, the type declarations of Express allow for older ones.
app.query?.('/api/projects/:id/comments', express.json(), async (request, response) => {
  const caller = await identify(request, 'comments:read');
  const project = await getProject(caller, request.params.id);
  const rows = await queries.commentPage(project.id);
  const comments = rows.slice(0, PAGE_SIZE);
  const last = comments.at(-1);
  const next = rows.length > PAGE_SIZE && last ? sealCursor(last) : null;
  response.json({ data: await commentsToResponse(caller, comments), page: { next, prev: null } });
});

app.post('/api/projects/:id/comments', express.json(), async (request, response) => {
  const caller = await identify(request, 'comments:write');
  const project = await getProject(caller, request.params.id);
  if (project.deletes_at !== null) throw new Refusal(409);
  const { content }: { content?: unknown } = request.body;
  if (typeof content !== 'string' || content.length > 5000 || !content.isWellFormed()) throw new Refusal(400);
  const [id, at] = [newUuid(), now()];
  const event = [id, caller.user_id, at, JSON.stringify({ file: null, parent: null, attachments: [] })];
  await queries.insertComment(
    [id, project.id, null, null, caller.user_id, content, null, null, null, at, at, fold(content)],
    insertsInWith ? [project.id, ...event] : [project.id, ...event, project.id],
  );
  response.status(201).location(`/api/comments/${id}`).json({ data: { id } });
});

app.get('/api/files/:id', async (request, response) => {
  const caller = await identify(request, 'files:read');
  const [file] = await queries.file(caller.user_id, caller.workspace_id, request.params.id);
  if (file === undefined || isHidden(file.role, file.allow_restricted)) throw new Refusal(404);
  const [media] = await queries.media(file.id);
  // The seeded files have no media, so that its fields need no mapping here.
  if (media !== undefined) throw new Error('The fair server does not map media.');
  const data = {
    id: file.id,
    name: file.name,
    description: file.description,
    mode: file.mode,
    status: file.status,
    tag: file.tag,
    mimeType: file.mime_type,
    size: file.size,
    sha256: file.sha256,
    allowRestricted: file.allow_restricted === 1,
    project: { id: file.project_id },
    folder: file.folder_id === null ? null : { id: file.folder_id },
    createdBy: { id: file.created_by },
    generation: null,
    media: null,
    thumbnailUrl: null,
    renditions: [],
    createdAt: file.created_at,
    updatedAt: file.updated_at,
  };
  sendWithETag(response, { data });
});

app.get('/api/projects/:id/versions', async (request, response) => {
  const caller = await identify(request);
  const project = await getProject(caller, request.params.id);
  const rows = await queries.versionPage(project.id, project.role);
  const data = rows.slice(0, PAGE_SIZE).map((version) => ({
    id: version.id,
    name: version.name,
    description: version.description,
    status: version.status,
    createdAt: version.created_at,
    updatedAt: version.updated_at,
    project: { id: version.project_id },
  }));
  response.json({ data, page: { current: 1, hasNext: rows.length > PAGE_SIZE } });
});

app.use((error: unknown, _request: Request, response: Response, _next: () => void) => {
  response.status(error instanceof Refusal ? error.status : 500).json({ detail: String(error) });
});

app.listen(Number(port), '127.0.0.1').keepAliveTimeout = KEEP_ALIVE_MS;
