import { ApiProblem, type Client, type CommentRecord, items, type ProblemCode } from '@review/client';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Service } from '../service.ts';
import { seed } from './fuzz.ts';

const STEPS = 50;

/** A comment as the model has it. */
interface Said {
  id: string;
  /** A deleted comment that has replies stays without its content. */
  state: 'live' | 'placeholder' | 'gone';
  content: string | null;
  parent: Said | null;
  isResolved: boolean;
  reactions: Set<string>;
}

/** Which comment a step is about, by a number that fits any count of comments. */
const which = fc.nat(1000);
const content = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => !text.includes('\0'));
const emoji = fc.constantFrom('👍', '🎉', '👩🏽‍🚀');

const Step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ action: fc.constant('say' as const), content }) },
  { weight: 3, arbitrary: fc.record({ action: fc.constant('reply' as const), which, content }) },
  { weight: 1, arbitrary: fc.record({ action: fc.constant('edit' as const), which, content }) },
  { weight: 2, arbitrary: fc.record({ action: fc.constant('delete' as const), which }) },
  { weight: 1, arbitrary: fc.record({ action: fc.constantFrom('resolve' as const, 'reopen' as const), which }) },
  { weight: 2, arbitrary: fc.record({ action: fc.constantFrom('react' as const, 'unreact' as const), which, emoji }) },
);
type Step = typeof Step extends fc.Arbitrary<infer Value> ? Value : never;

/** Carries out random steps on the comments of a project and on a model of them, and compares both. */
export async function runConversations({ client }: Service, count: number): Promise<void> {
  const steps = fc.array(Step, { minLength: STEPS, maxLength: STEPS });
  await fc.assert(
    fc.asyncProperty(steps, async (chosen) => {
      const conversation = new Conversation(client, (await client.projects.create({ body: { name: 'Talk' } })).data);
      for (const step of chosen) await conversation.carryOut(step);
      expect(await conversation.read()).toEqual(conversation.expected());
    }),
    { numRuns: count, seed },
  );
}

class Conversation {
  readonly #client: Client;
  readonly #project: { id: string };
  readonly #said: Said[] = [];

  constructor(client: Client, project: { id: string }) {
    this.#client = client;
    this.#project = project;
  }

  /** Carries out a step, whose outcome must be that of the model. */
  async carryOut(step: Step): Promise<void> {
    const { comments, reactions } = this.#client;
    if (step.action === 'say') return this.#add(step.content, null);
    if (this.#said.length === 0) return;
    const about = this.#said[step.which % this.#said.length];
    if (about === undefined) return;
    const params = { id: about.id };
    const missing = about.state === 'live' ? null : 'NOT_FOUND';
    switch (step.action) {
      case 'reply':
        if (about.state === 'gone') return this.#expectRefusedReply(about, 'REFERENCE_NOT_FOUND');
        if (about.parent !== null) return this.#expectRefusedReply(about, 'PARENT_NOT_TOP_LEVEL');
        return this.#add(step.content, about);
      case 'edit':
        await expectOutcome(comments.update({ params, body: { content: step.content } }), missing);
        if (missing === null) about.content = step.content;
        return;
      case 'delete':
        await expectOutcome(comments.delete({ params }), missing);
        if (missing === null) this.#delete(about);
        return;
      case 'resolve':
      case 'reopen':
        await expectOutcome(comments[step.action === 'resolve' ? 'resolve' : 'cancelResolve']({ params }), missing);
        if (missing === null) about.isResolved = step.action === 'resolve';
        return;
      case 'react': {
        const repeated = about.reactions.has(step.emoji) ? 'REACTION_EXISTS' : null;
        await expectOutcome(reactions.create({ params, body: { type: step.emoji } }), missing ?? repeated);
        if (missing === null) about.reactions.add(step.emoji);
        return;
      }
      case 'unreact': {
        const absent = about.reactions.delete(step.emoji) ? null : 'NOT_FOUND';
        await expectOutcome(reactions.delete({ params, query: { type: step.emoji } }), missing ?? absent);
      }
    }
  }

  async #add(text: string, parent: Said | null): Promise<void> {
    const body = { content: text, ...(parent && { parent: { id: parent.id } }) };
    const { id } = (await this.#client.comments.create({ params: this.#project, body })).data;
    this.#said.push({ id, state: 'live', content: text, parent, isResolved: false, reactions: new Set() });
  }

  #expectRefusedReply({ id }: Said, code: ProblemCode): Promise<void> {
    const body = { content: 'Refused', parent: { id } };
    return expectOutcome(this.#client.comments.create({ params: this.#project, body }), code);
  }

  #delete(comment: Said): void {
    comment.reactions.clear();
    if (this.#repliesOf(comment).length > 0) {
      comment.state = 'placeholder';
      comment.content = null;
      return;
    }
    comment.state = 'gone';
    const { parent } = comment;
    if (parent?.state === 'placeholder' && this.#repliesOf(parent).length === 0) parent.state = 'gone';
  }

  #repliesOf = (comment: Said | null): Said[] =>
    this.#said.filter(({ parent, state }) => parent === comment && state !== 'gone');

  /** The threads as the model has them, oldest first. */
  expected() {
    const shown = ({ id, content, state, isResolved, reactions }: Said) => ({
      id,
      content,
      isDeleted: state === 'placeholder',
      isResolved,
      reactions: [...reactions].sort(),
    });
    return this.#repliesOf(null).map((top) => ({ ...shown(top), replies: this.#repliesOf(top).map(shown) }));
  }

  /** The threads as the service has them. */
  async read() {
    const { comments } = this.#client;
    const shown = (comment: CommentRecord) => ({
      id: comment.id,
      content: comment.content,
      isDeleted: comment.deletedAt !== null,
      isResolved: comment.resolvedAt !== null,
      reactions: comment.reactions.map(({ type }) => type).sort(),
    });
    const threads = [];
    for (const top of await all(items(comments.list, { params: this.#project, body: {} }))) {
      const replies = await all(items(comments.listReplies, { params: { id: top.id }, body: {} }));
      expect(top.replies.count).toBe(replies.length);
      threads.push({ ...shown(top), replies: replies.map(shown) });
    }
    return threads;
  }
}

async function expectOutcome(call: Promise<unknown>, refusal: ProblemCode | null): Promise<void> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => (error instanceof ApiProblem ? error.code : error),
  );
  expect(outcome).toBe(refusal);
}

async function all<Item>(found: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of found) collected.push(item);
  return collected;
}
