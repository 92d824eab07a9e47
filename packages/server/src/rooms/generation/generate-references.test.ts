import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { problemIn } from '../../test/problem-in.ts';
import { newFolder, newProject, start, upload, uploadFile } from '../uploads/test/uploads.ts';
import { fileOf, finish, generate, held, NO_LIMITS, PAGE, post, storeResult } from './test/generations.ts';

const UNKNOWN = '00000000000000000000';

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const attach = (...ids: string[]) => post(house(), { ...PAGE, attachments: ids.map((id) => ({ id })) });
  const reference = () => upload(client(), 'GA', house().projectId);
  const refusedAt = async (response: Response, code: Parameters<typeof problemIn>[1]) =>
    (await problemIn(response, code)).errors?.map(({ pointer }) => pointer);

  test('the file is created in a folder of the project', async () => {
    const folder = { id: await newFolder(house()) };
    expect((await fileOf(house(), await generate(house(), { folder }))).folder).toEqual(folder);
  });

  test('a folder that is unknown or of another project is 422', async () => {
    const elsewhere = await newFolder(house(), await newProject(house()));
    for (const id of [elsewhere, `DX${UNKNOWN}`]) {
      expect(await refusedAt(await post(house(), { ...PAGE, folder: { id } }), 'REFERENCE_NOT_FOUND')).toEqual([
        '/folder/id',
      ]);
    }
  });

  test.each([{ id: 'FX' }, { id: `FX${UNKNOWN}` }, { id: 7 }, {}, 'DX', []])('the folder %o is 400', async (folder) => {
    await problemIn(await post(house(), { ...PAGE, folder }), 'INVALID_REQUEST');
  });

  test('up to 5 files and attachments of the project are accepted, in their order', async () => {
    const ids = [await reference(), await uploadFile(house()), await reference(), await reference()];
    const attachments = [...ids, await uploadFile(house())].map((id) => ({ id }));
    const id = await generate(house(), { attachments });
    expect((await fileOf(house(), id)).generation?.attachments).toEqual(attachments);
  });

  test('6 are 400', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, reference));
    expect(await refusedAt(await attach(...ids), 'INVALID_REQUEST')).toEqual(['/attachments']);
  });

  test('the same one twice is 400', async () => {
    const [one, two] = [await reference(), await uploadFile(house())];
    await problemIn(await attach(one, two, one), 'INVALID_REQUEST');
    await problemIn(await attach(two, two), 'INVALID_REQUEST');
  });

  test('several generations can use one attachment', async () => {
    const id = await reference();
    expect([(await attach(id)).status, (await attach(id)).status]).toEqual([202, 202]);
  });

  test('a comment attachment is 400', async () => {
    const id = await upload(client(), 'CA', house().projectId);
    expect(await refusedAt(await attach(await reference(), id), 'INVALID_REQUEST')).toEqual(['/attachments/1/id']);
  });

  test.each(['FX', 'GA', '', 'DX00000000000000000000', 'fx00000000000000000000'])('the id %j is 400', async (id) => {
    expect(await refusedAt(await attach(id), 'INVALID_REQUEST')).toEqual(['/attachments/0/id']);
  });

  test('unknown attachments and those of another project are 422, each with its pointer', async () => {
    const elsewhere = await newProject(house());
    const ids = [
      await upload(client(), 'FX', elsewhere),
      await reference(),
      await upload(client(), 'GA', elsewhere),
      `FX${UNKNOWN}`,
      `GA${UNKNOWN}`,
    ];
    expect(await refusedAt(await attach(...ids), 'REFERENCE_NOT_FOUND')).toEqual(
      [0, 2, 3, 4].map((index) => `/attachments/${index}/id`),
    );
  });

  test('unfinished attachments are 422, each with its pointer', async () => {
    const ids = [
      (await start(client(), 'FX', house().projectId)).id,
      await reference(),
      (await start(client(), 'GA', house().projectId)).id,
      await generate(house()),
    ];
    expect(await refusedAt(await attach(...ids), 'ATTACHMENT_NOT_READY')).toEqual(
      [0, 2, 3].map((index) => `/attachments/${index}/id`),
    );
  });

  test('unknown attachments are reported before unfinished ones', async () => {
    const unready = (await start(client(), 'GA', house().projectId)).id;
    await problemIn(await attach(unready, `GA${UNKNOWN}`), 'REFERENCE_NOT_FOUND');
  });

  test('a canceled or failed file has no content: 422', async () => {
    const id = await generate(house());
    await client().files.cancel({ params: { id } });
    expect(await refusedAt(await attach(id), 'ATTACHMENT_NOT_READY')).toEqual(['/attachments/0/id']);
  });

  test('a generated file with content can be attached', async () => {
    const task = await held(house());
    await storeResult(house(), task);
    await finish(house(), task);
    expect((await attach(task.id)).status).toBe(202);
  });

  test('a token in the prompt can name an attached file or upload', async () => {
    const [file, ga] = [await uploadFile(house()), await reference()];
    const prompt = `Like <#${file}>, but <#${ga}>, and again <#${file}>.`;
    const id = await generate(house(), { prompt, attachments: [{ id: file }, { id: ga }] });
    const { name, generation } = await fileOf(house(), id);
    expect([name, generation?.prompt]).toEqual(['like-but-and-again.md', prompt]);
  });

  test('a token of an id that is not attached is 400', async () => {
    const [file, ga] = [await uploadFile(house()), await reference()];
    for (const prompt of [`Like <#${file}>`, `<#${file}><#${ga}>`, `<#FX${UNKNOWN}>`]) {
      const response = await post(house(), { ...PAGE, prompt, attachments: [{ id: ga }] });
      expect(await refusedAt(response, 'INVALID_REQUEST')).toEqual(['/prompt']);
    }
  });

  test.each(['<#>', '<#nobody>', '<# FX>', '#FX', '<#CA00000000000000000000>', '<#fx00000000000000000000>'])(
    'the text %j is not a token',
    async (prompt) => {
      expect((await post(house(), { ...PAGE, prompt })).status).toBe(202);
    },
  );
}, NO_LIMITS);
