/**
 * Executes commands in the comments on a project, replies to them, and resolves them:
 *
 *   /approve <version name>
 *   /reject <version name>
 *
 *   REVIEW_URL=... REVIEW_TOKEN=... REVIEW_PROJECT=... node review-bot.ts
 *
 * Run it every minute: it replies to each comment once.
 */
import { ApiProblem, type CommentRecord, items, type ReviewStatus } from '@review/client';
import { client, project } from './environment.ts';

const NAME = 'review-bot: ';
const STATUSES = new Map<string, ReviewStatus>([
  ['approve', 'APPROVED'],
  ['reject', 'REJECTED'],
]);
const params = { id: project };

const reply = (comment: CommentRecord, text: string) =>
  client.comments.create(
    { params, body: { content: NAME + text, parent: { id: comment.id } } },
    // Two concurrent bots write one reply.
    { idempotencyKey: `${NAME}${comment.id}` },
  );

async function hasAnswered(comment: CommentRecord): Promise<boolean> {
  for await (const answer of items(client.comments.listReplies, { params: { id: comment.id } })) {
    if (answer.content?.startsWith(NAME)) return true;
  }
  return false;
}

async function findVersion(name: string) {
  for await (const version of items(client.versions.list, { params })) if (version.name === name) return version;
  return undefined;
}

async function carryOut(comment: CommentRecord): Promise<string | undefined> {
  const [, verb = '', name = ''] = /^\/(\w+)\s+(.+?)\s*$/.exec(comment.content ?? '') ?? [];
  const status = STATUSES.get(verb);
  if (status === undefined || (await hasAnswered(comment))) return undefined;
  const version = await findVersion(name);
  if (version === undefined) {
    await reply(comment, `there is no version "${name}".`);
    return `did not find ${name}`;
  }
  await client.versions.setStatus({ params: { id: version.id }, body: { status } });
  await reply(comment, `"${name}" is now ${status}.`);
  await client.comments.resolve({ params: { id: comment.id } });
  return `set ${name} to ${status}`;
}

for await (const comment of items(client.comments.list, { params, body: { resolved: false } })) {
  try {
    const done = await carryOut(comment);
    if (done) console.log(done);
  } catch (problem) {
    // A failed command does not stop the others.
    if (!(problem instanceof ApiProblem)) throw problem;
    console.error(`${comment.id}: ${problem.code} ${problem.message}`);
    process.exitCode = 1;
  }
}
