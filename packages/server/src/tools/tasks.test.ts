import { CreateTaskResultV2Schema, GetTaskResultV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { expect, test } from 'vitest';
import { fail, fileOf, finish, NO_LIMITS, PAGE, storeResult, take } from '../rooms/generation/test/generations.ts';
import { start } from '../rooms/uploads/test/uploads.ts';
import { onEachDatabase } from '../test/house.ts';
import { openTaskSession } from './test/task-session.ts';
import { currentRequest, formerRequest, messageIn, post, refusedAs, TASKS } from './test/wire.ts';

const FOLLOWS = { extensions: { [TASKS]: {} } };

onEachDatabase((house) => {
  const given = () => ({ id: house().projectId, ...PAGE });
  const owner = () => house().people.owner.key;
  const ask = async (method: string, params: Record<string, unknown>, capabilities = FOLLOWS, key = owner()) =>
    messageIn(await post(house(), key, currentRequest(method, params, capabilities)));

  /** A generation that is followed as a task. */
  async function generating() {
    const session = await openTaskSession(house(), owner());
    const execution = await session.callTool('generate_file', given());
    if (execution.kind === 'immediate') throw new Error('generate_file is no task');
    const id = String(execution.handle.taskId);
    return { id, execution, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
  }

  test('generate_file returns a task, whose result is the file', async () => {
    await using task = await generating();
    const work = await take(house(), task.id);
    await storeResult(house(), work);
    await finish(house(), work);
    const { outcome } = await task.execution.settle();
    expect(outcome).toMatchObject({
      status: 'completed',
      result: {
        structuredContent: { data: { id: task.id } },
        content: [
          { type: 'text' },
          { type: 'resource_link', uri: `review://files/${task.id}`, mimeType: 'text/markdown' },
        ],
      },
    });
    expect((await fileOf(house(), task.id)).status).toBe('UPLOADED');
  });

  test('a failed generation is a completed task with an error result', async () => {
    await using task = await generating();
    await fail(house(), await take(house(), task.id));
    const { outcome } = await task.execution.settle();
    expect(outcome).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(JSON.stringify(outcome)).toContain('The provider said no.');
  });

  test('a task can be canceled repeatedly; an ended generation does not change', async () => {
    await using task = await generating();
    await task.execution.cancel();
    expect((await task.execution.settle()).outcome.status).toBe('cancelled');
    expect((await fileOf(house(), task.id)).status).toBe('CANCELED');
    expect((await ask('tasks/cancel', { taskId: task.id })).error).toBeUndefined();

    await using done = await generating();
    await fail(house(), await take(house(), done.id));
    expect((await ask('tasks/cancel', { taskId: done.id })).error).toBeUndefined();
    expect((await fileOf(house(), done.id)).status).toBe('FAILED');
  });

  test('the messages follow the extension', async () => {
    const made = await ask('tools/call', { name: 'generate_file', arguments: given() });
    const task = CreateTaskResultV2Schema.parse(made.result);
    expect(task).toMatchObject({ resultType: 'task', status: 'working', statusMessage: 'QUEUED', ttlMs: null });
    const { taskId } = task;
    const read = async () => GetTaskResultV2Schema.parse((await ask('tasks/get', { taskId })).result);
    expect(await read()).toMatchObject({
      resultType: 'complete',
      taskId,
      status: 'working',
      createdAt: task.createdAt,
    });
    const work = await take(house(), taskId);
    await storeResult(house(), work);
    await finish(house(), work);
    expect(await read()).toMatchObject({
      status: 'completed',
      result: { structuredContent: { data: { id: taskId } } },
    });
    expect((await ask('tasks/update', { taskId, inputResponses: {} })).result).toMatchObject({
      resultType: 'complete',
    });
    expect((await ask('tasks/result', { taskId })).error?.code).toBe(-32601);
    expect((await ask('tasks/list', {})).error?.code).toBe(-32601);
  });

  test('a task is visible to all who can see its file, and 404 to others', async () => {
    await using task = await generating();
    const plain = await start(house().people.owner.client, 'FX', house().projectId);
    const { stranger, foreigner, member } = house().people;
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      for (const { key } of [stranger, foreigner]) {
        expect((await ask(method, { taskId: task.id }, FOLLOWS, key)).error?.code).toBe(-32602);
      }
      for (const taskId of [plain.id, 'FX00000000000000000000', 'nonsense']) {
        expect((await ask(method, { taskId })).error?.code).toBe(-32602);
      }
    }
    expect((await ask('tasks/get', { taskId: task.id }, FOLLOWS, member.key)).result).toMatchObject({
      status: 'working',
    });
    expect((await fileOf(house(), task.id)).status).toBe('GENERATING');
  });

  test('a client without task support, or a credential that cannot read files, gets the file id instead', async () => {
    const call = { name: 'generate_file', arguments: given() };
    const { result } = await ask('tools/call', call, { extensions: {} } as never);
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { data: { id: expect.any(String) } } });
    const { key } = await house().withScopes('owner', ['ai:generate']);
    expect((await ask('tools/call', call, FOLLOWS, key)).result).toMatchObject({ resultType: 'complete' });
    const former = await messageIn(await post(house(), owner(), formerRequest('tools/call', call)));
    expect(former.result).toMatchObject({ content: [{}, { text: expect.stringContaining('get_file') }] });

    await using task = await generating();
    expect((await ask('tasks/get', { taskId: task.id }, {} as never)).error?.code).toBe(-32021);
    const refused = await post(house(), key, currentRequest('tasks/get', { taskId: task.id }, FOLLOWS));
    await refusedAs(refused, 'INSUFFICIENT_SCOPE');
  });

  test('a refused call creates no task', async () => {
    const { result } = await ask('tools/call', { name: 'generate_file', arguments: { ...given(), prompt: '' } });
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
  });
}, NO_LIMITS);
