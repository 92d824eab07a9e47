import { expect, test } from 'vitest';
import { type House, onEachDatabase, refusal } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';
import { currentRequest, messageIn, post, TASKS } from '../../tools/test/wire.ts';
import { NO_LIMITS, PAGE } from '../generation/test/generations.ts';
import { uploadFile } from '../uploads/test/uploads.ts';

const SECRET = 'An unreleased lamp of brass.';

const markFor = (house: House, id: string) =>
  house.people.owner.client.files.update({ params: { id }, body: { allowRestricted: true } });

/** A failed generation with allowRestricted, whose error message contains the id of its attachment. */
async function toGenerationRecord(house: House) {
  const { owner } = house.people;
  const attachment = await uploadFile(house);
  const body = { ...PAGE, prompt: SECRET, attachments: [{ id: attachment }] };
  const { id } = (await owner.client.generation.generate({ params: { id: house.projectId }, body })).data;
  await markFor(house, id);
  await house.deps.db
    .updateTable('generations')
    .set({
      error: JSON.stringify({ code: 'ATTACHMENT_UNREADABLE', message: `${attachment} is gone.`, retryable: false }),
      warnings: JSON.stringify([`Made without ${attachment}.`]),
    })
    .where('file_id', '=', id)
    .execute();
  return { id, attachment };
}

onEachDatabase((house) => {
  test('a restricted reviewer sees a generated file without prompt and attachments', async () => {
    const { id, attachment } = await toGenerationRecord(house());
    const { restricted, reviewer } = house().people;
    const params = { id: house().projectId };
    const answers = [
      (await restricted.client.files.get({ params: { id } })).data,
      (await restricted.client.files.list({ params })).data.find((file) => file.id === id),
    ];
    for (const file of answers) {
      expect(file?.generation).toMatchObject({ prompt: null, attachments: [], warnings: [] });
      expect(file?.generation?.error).toEqual({
        code: 'ATTACHMENT_UNREADABLE',
        message: 'The generation failed.',
        retryable: false,
      });
      expect(JSON.stringify(file)).not.toContain(attachment);
    }
    const { generation } = (await reviewer.client.files.get({ params: { id } })).data;
    expect(generation).toMatchObject({ prompt: SECRET, attachments: [{ id: attachment }] });
  });

  test('the tools and resources redact them too', async () => {
    const { id, attachment } = await toGenerationRecord(house());
    const { key } = house().people.restricted;
    for (const request of [
      currentRequest('tools/call', { name: 'get_file', arguments: { id } }),
      currentRequest('tools/call', { name: 'list_project_files', arguments: { id: house().projectId } }),
      currentRequest('resources/read', { uri: `review://files/${id}` }),
      currentRequest('tasks/get', { taskId: id }, { extensions: { [TASKS]: {} } }),
    ]) {
      const message = JSON.stringify(await messageIn(await post(house(), key, request)));
      expect(message).toContain(id);
      expect(message).not.toContain(SECRET);
      expect(message).not.toContain(attachment);
    }
  });

  test('a restricted reviewer sees only folders with a visible file and their ancestors', async () => {
    const { owner, restricted } = house().people;
    const id = await newProject(owner, [[restricted, 'PROJECT_RESTRICTED_REVIEWER']]);
    const make = async (name: string, parent: { id: string } | null = null) =>
      (await owner.client.folders.create({ params: { id }, body: { name, parent } })).data;
    const names = async () => (await restricted.client.folders.list({ params: { id } })).data.map(({ name }) => name);
    const above = await make('Above');
    const holder = await make('Holder', above);
    const below = await make('Below', holder);
    const secret = await make('Secret', above);
    for (const folder of [holder, below, secret]) {
      const body = { name: 'a.txt', size: 1, folder };
      const { data } = await owner.client.files.startUpload({ params: { id }, body });
      if (folder === holder) await markFor(house(), data.id);
    }
    expect(await names()).toEqual(['Above', 'Holder']);
    expect((await owner.client.folders.list({ params: { id } })).data).toHaveLength(4);

    // A hidden folder gets the same response as one that does not exist.
    const inFolder = (folder: string) =>
      restricted.client.files.list({ params: { id }, body: { folder: { id: folder } } });
    expect((await inFolder(holder.id)).data).toHaveLength(1);
    await refusal(inFolder(secret.id), 'REFERENCE_NOT_FOUND');
    for (const [folder, code] of [
      [holder, 'INSUFFICIENT_ROLE'],
      [secret, 'NOT_FOUND'],
      [below, 'NOT_FOUND'],
    ] as const) {
      await refusal(restricted.client.folders.update({ params: folder, body: { name: 'Mine' } }), code);
      await refusal(restricted.client.folders.delete({ params: folder }), code);
    }
  });
}, NO_LIMITS);
