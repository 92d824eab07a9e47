import { expect, test } from 'vitest';
import { inConsole, OWNER, REVIEWER } from './console-fixture.ts';

inConsole('comments in the console', (fixture) => {
  test('a comment on a frame links to its time, and gets replies, reactions and a resolution', async () => {
    const fileId = await fixture().service.generate('seedance-2.0', 'A slow pan', {
      configs: { resolution: '480p', durationSeconds: 4 },
    });
    await fixture().service.waitForEnd(fileId);
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${fileId}?at=1500`);
    const at = () => page.evaluate<number>('document.querySelector("video").currentTime');
    await expect.poll(() => page.evaluate('document.querySelector("video")?.readyState > 2')).toBe(true);
    await page.getByLabel(/^at 0:01\.5/).waitFor();
    await page.getByLabel('Comment', { exact: true }).fill('Too fast from here.');
    await page.keyboard.press('Control+Enter');
    const comment = page.getByRole('article', { name: /Comment by/ }).first();
    await comment.getByText('Too fast from here.').waitFor();
    await page.reload();
    await expect.poll(() => page.evaluate('document.querySelector("video")?.readyState > 2')).toBe(true);
    await page.getByRole('slider').first().focus();
    await page.keyboard.press('Home');
    await expect.poll(at).toBe(0);
    await comment.getByRole('button', { name: '0:01.5' }).click();
    await expect.poll(at).toBeCloseTo(1.5, 1);

    await comment.getByRole('button', { name: 'React' }).click();
    await page.getByRole('button', { name: '🎉' }).click();
    await comment.getByRole('button', { name: '🎉 1', pressed: true }).waitFor();
    await comment.getByRole('button', { name: 'React' }).click();
    await page.getByLabel('Another emoji').fill('no emoji');
    await page.getByText('Exactly one emoji').waitFor();
    await visit.expectAccessible('the choice of a reaction');
    await page.getByLabel('Another emoji').fill('🦊');
    await page.keyboard.press('Enter');
    await comment.getByRole('button', { name: '🦊 1', pressed: true }).waitFor();
    await comment.getByRole('button', { name: '🎉 1' }).click();
    await comment.getByRole('button', { name: /🎉/ }).waitFor({ state: 'detached' });

    await comment.getByRole('button', { name: 'Reply', exact: true }).click();
    await page.waitForURL(/thread=/);
    const replies = comment.getByRole('group', { name: 'Replies' });
    await replies.getByLabel('Reply', { exact: true }).fill('I will ease it in.');
    await replies.getByRole('button', { name: 'Reply', exact: true }).click();
    await replies
      .getByRole('article', { name: /^Comment by / })
      .getByText('I will ease it in.')
      .waitFor();
    await page.reload();
    await replies.getByText('I will ease it in.').waitFor();
    await visit.expectAccessible('a file with comments');

    await comment.getByRole('button', { name: 'Resolve' }).click();
    await comment.getByRole('button', { name: 'Open again' }).click();
    await comment.getByRole('button', { name: 'Resolve' }).click();
    await expect
      .poll(() => fixture().service.client.comments.listOnFile({ params: { id: fileId } }))
      .toMatchObject({
        data: [
          { anchor: 1500, replies: { count: 1 }, reactions: [{ type: '🦊', reacted: true }], resolvedAt: /^\d{4}/ },
        ].map(({ resolvedAt, ...rest }) => ({ ...rest, resolvedAt: expect.stringMatching(resolvedAt) })),
      });
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a stored reply is shown once, also while another list is still being refetched', async () => {
    const projectId = await fixture().newProject('Talk');
    const { client } = fixture().service;
    const body = { content: 'Too loud.' };
    const { data: parent } = await client.comments.create({ params: { id: projectId }, body });
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.openLive(`/projects/${projectId}/comments?thread=${parent.id}`);
    const replies = page.getByRole('group', { name: 'Replies' });
    const held = Promise.withResolvers<void>();
    await page.route(`**/api/projects/${projectId}/comments`, async (route) => {
      if (route.request().method() !== 'POST') await held.promise;
      await route.continue();
    });
    await replies.getByLabel('Reply', { exact: true }).fill('Lowered.');
    await replies.getByRole('button', { name: 'Reply', exact: true }).click();
    const texts = () => replies.getByRole('article').allInnerTexts();
    const once = [expect.stringMatching(/^(?!.*sending).*Lowered\./s)];
    await expect.poll(texts).toEqual(once);
    held.resolve();
    await visit.settled();
    expect(await texts()).toEqual(once);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('an attachment of a comment downloads unchanged', async () => {
    const projectId = await fixture().newProject('Talk');
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/projects/${projectId}/comments`);
    await page.getByText('No comments yet').waitFor();
    await page.getByLabel('Files for the comment').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('from the call') },
      { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('not this one') },
    ]);
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    await page.getByLabel('Comment', { exact: true }).fill('See the notes.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const comment = page.getByRole('article', { name: /Comment by/ });
    const attachment = comment.getByRole('button', { name: /notes\.txt/ });
    const download = page.waitForEvent('download');
    await attachment.click();
    const stream = await (await download).createReadStream();
    expect(Buffer.concat(await stream.toArray()).toString()).toBe('from the call');
    await expect.poll(() => comment.getByRole('button', { name: /wrong\.txt/ }).count()).toBe(0);

    await using other = await fixture().visit({
      key: await fixture().keyOf(OWNER, ['projects:read', 'comments:read']),
    });
    await other.open(`/projects/${projectId}/comments`);
    const closed = other.page.getByRole('button', { name: /notes\.txt/ });
    await closed.focus();
    await other.page.getByRole('tooltip').getByText('This key lacks the scope comments:download').waitFor();
    await other.page.getByRole('note').getByText('This key lacks the scope comments:write').waitFor();
    await other.expectAccessible('comments that can only be read');
    expect([...visit.takeConsoleErrors(), ...other.takeConsoleErrors()]).toEqual([]);
  });

  test('scrolling up loads older comments and keeps the scroll position', async () => {
    const projectId = await fixture().newProject('Talk');
    const { client } = fixture().service;
    for (let number = 1; number <= 120; number++) {
      await client.comments.create({ params: { id: projectId }, body: { content: `Remark ${number}.` } });
    }
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/projects/${projectId}/comments`);
    await page.getByText('Remark 120.').waitFor();
    const articles = page.getByRole('article');
    await expect.poll(() => articles.count()).toBe(50);
    const seen = (words: string) =>
      page.evaluate<number>(
        `[...document.querySelectorAll('article')].find((each) => each.innerText.includes(${JSON.stringify(words)}))?.getBoundingClientRect().top`,
      );
    expect(await seen('Remark 120.'), 'the newest is in view').toBeLessThan(820);

    const scrollTo = (top: number) => page.evaluate(`document.querySelector('[role=log]').scrollTop = ${top}`);
    // This position triggers loading of the next page while Remark 73 is in view.
    await scrollTo(100);
    const before = await seen('Remark 73.');
    await expect.poll(() => articles.count()).toBe(100);
    expect(Math.abs((await seen('Remark 73.')) - before), 'nothing jumped').toBeLessThan(2);
    await scrollTo(0);
    await expect.poll(() => articles.count()).toBe(120);
    await scrollTo(0);
    await page.getByText('The beginning of the conversation').waitFor();
    await visit.expectAccessible('the beginning of a conversation');
    await page.getByText('Remark 1.', { exact: true }).waitFor();

    const { data } = await client.comments.list({ params: { id: projectId }, body: { sort: { direction: 'desc' } } });
    const newest = data[0]?.id;
    await visit.open(`/projects/${projectId}/comments?thread=${newest}`);
    await page.getByRole('group', { name: 'Replies' }).waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('only the author can edit a comment; only the author and an owner can delete it', async () => {
    const { projectId, client } = fixture().service;
    const { data: made } = await client.comments.create({
      params: { id: projectId },
      body: { content: 'By the owner.' },
    });
    await using visit = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    const { page } = visit;
    await visit.open(`/projects/${projectId}/comments`);
    const of = (words: string) => page.getByRole('article').filter({ hasText: words });
    const menu = async (words: string) => {
      await of(words).getByRole('button', { name: 'Actions for this comment' }).click();
    };
    await menu('By the owner.');
    await page.getByRole('menuitem', { name: 'Edit' }).getByText('Only its author can edit a comment.').waitFor();
    await page.getByRole('menuitem', { name: 'Delete' }).getByText('an owner or a manager can delete').waitFor();
    await visit.expectAccessible('the actions for a comment of someone else');
    await page.keyboard.press('Escape');

    await page.getByLabel('Comment', { exact: true }).fill('By the reviewer.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await menu('By the reviewer.');
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByLabel('Edit the comment').fill('By the reviewer, better.');
    await visit.expectAccessible('a comment that is edited');
    await page.getByRole('button', { name: 'Save' }).click();
    await of('By the reviewer, better.').waitFor();
    await menu('By the reviewer, better.');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete comment' }).waitFor();
    await visit.expectAccessible('the question before a comment is deleted');
    await page.getByRole('button', { name: 'Delete comment' }).click();
    await of('By the reviewer, better.').waitFor({ state: 'detached' });
    await client.comments.delete({ params: { id: made.id } });
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a failed request rolls back the optimistic update, shows the error and keeps the text', async () => {
    const projectId = await fixture().newProject('Talk');
    await using visit = await fixture().visit();
    const { page } = visit;
    // The page must not learn that the project is about to be deleted.
    await visit.refuseEvents();
    await visit.open(`/projects/${projectId}/comments`);
    const { data } = await fixture().service.client.comments.create({
      params: { id: projectId },
      body: { content: 'Will be gone.' },
    });
    await page.reload();
    const comment = page.getByRole('article').filter({ hasText: 'Will be gone.' });
    await comment.waitFor();
    await fixture().service.client.projects.delete({ params: { id: projectId } });
    await comment.getByRole('button', { name: 'Resolve' }).click();
    await comment
      .getByRole('alert')
      .getByRole('button', { name: /^Request / })
      .waitFor();
    await expect.poll(() => comment.getByText('resolved', { exact: true }).count()).toBe(0);
    await page.getByLabel('Comment', { exact: true }).fill('Too late?');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('region', { name: 'Comments' }).getByRole('alert').last().waitFor();
    await expect.poll(() => page.getByLabel('Comment', { exact: true }).inputValue()).toBe('Too late?');
    await visit.expectAccessible('comments that failed');
    expect(data.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(visit.takeConsoleErrors(/409|503/)).toEqual([]);
  });

  test('a comment is pinned before the first play, and Arabic is written from the right', async () => {
    const { service } = fixture();
    const configs = { resolution: '480p', durationSeconds: 4 };
    const id = await service.generate('seedance-2.0', 'A slow pan', { configs });
    await service.waitForEnd(id);
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${id}`);
    await page.getByRole('checkbox', { name: 'at 0:00.0' }).waitFor();
    const field = page.getByRole('textbox', { name: 'Comment' });
    const words = 'المصباح مظلم جدا';
    await field.fill(words);
    const direction = (element: Element) => getComputedStyle(element).direction;
    expect(await field.evaluate((element) => getComputedStyle(element).unicodeBidi)).toBe('plaintext');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const comment = page.getByRole('article', { name: 'Comment by Olive Owner' }).getByText(words);
    await comment.waitFor();
    expect(await comment.evaluate(direction)).toBe('rtl');
    await expect
      .poll(async () => (await service.client.comments.listOnFile({ params: { id } })).data.map(({ anchor }) => anchor))
      .toEqual([0]);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
