import { contract } from '@review/contract';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inConsole, OWNER, REVIEWER } from './console-fixture.ts';
import type { Visit } from './visit.ts';

inConsole('projects in the console', (fixture) => {
  /** Creates a project and opens its page. */
  async function newProject(visit: Visit, name: string): Promise<string> {
    const id = await fixture().newProject(name);
    await visit.open(`/projects/${id}`);
    await visit.page.getByRole('heading', { name, level: 1 }).waitFor();
    return id;
  }

  test('a new project is found by search and sorting, also after a reload', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open('/projects');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.waitForURL(/create=true/);
    await page.reload();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Autumn film');
    await form.getByLabel('Description').fill('Ninety seconds of leaves.');
    await form.getByLabel('Deadline').fill('2027-03-01');
    await visit.expectAccessible('the form for a project');
    await form.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Autumn film' }).waitFor();
    await page.getByText('No files here yet').waitFor();
    await page.reload();
    await page.getByText('due 2027-03-01').waitFor();

    await visit.open('/projects');
    const cards = page.getByRole('list', { name: 'Projects' }).getByRole('listitem');
    await page.getByLabel('Search projects').fill('leaves');
    await expect.poll(() => cards.allInnerTexts().then((all) => all.length)).toBe(1);
    await page.waitForURL(/keyword=leaves/);
    await page.reload();
    await cards.getByText('Autumn film').waitFor();
    await page.getByLabel('Search projects').fill('no such thing');
    await page.getByText('Nothing matches').waitFor();
    await visit.expectAccessible('no project that matches');
    await visit.open('/projects?sort=name');
    await expect.poll(async () => (await cards.allInnerTexts())[0]).toContain('Autumn film');
    await visit.expectAccessible('the list of projects');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a list of several pages loads further pages on click', async () => {
    const { client } = fixture().service;
    for (let number = 0; number < 52; number++) await client.projects.create({ body: { name: `Paged ${number}` } });
    await using visit = await fixture().visit();
    const cards = visit.page.getByRole('list', { name: 'Projects' }).getByRole('listitem');
    await visit.open('/projects?keyword=Paged');
    await expect.poll(() => cards.count()).toBe(50);
    await visit.page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => cards.count()).toBe(52);
    await visit.open('/projects?keyword=51');
    await expect.poll(() => cards.allInnerTexts().then((all) => all.length)).toBe(1);
    await cards.getByText('Paged 51').waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('folders can be created, opened, renamed, moved and deleted; a non-empty one shows why it cannot be deleted', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    const id = await newProject(visit, 'With folders');
    const menuOf = async (folder: string, item: string) => {
      await page.getByRole('button', { name: `Actions for the folder ${folder}` }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const makeFolder = async (name: string) => {
      await page.getByRole('button', { name: 'New folder' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill(name);
      await visit.expectAccessible('the form for a folder');
      await page.getByRole('button', { name: 'Create folder' }).click();
      await page.getByRole('link', { name, exact: true }).waitFor();
    };
    await makeFolder('Rushes');
    await page.getByRole('link', { name: 'Rushes', exact: true }).click();
    await page.waitForURL(/folder=DX/);
    await makeFolder('Day one');
    await page.reload();
    const path = page.getByRole('navigation', { name: 'Folders' });
    await path.getByText('Rushes').waitFor();
    await menuOf('Day one', 'Rename');
    await page.getByRole('dialog').getByLabel('Name').fill('Day two');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('link', { name: 'Day two', exact: true }).waitFor();

    await path.getByRole('link', { name: 'All files' }).click();
    await menuOf('Rushes', 'Delete');
    await page.getByRole('button', { name: 'Delete folder' }).click();
    await page
      .getByRole('alert')
      .getByRole('button', { name: /^Request / })
      .waitFor();
    await visit.expectAccessible('why a folder cannot be deleted');
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('link', { name: 'Rushes', exact: true }).click();
    await menuOf('Day two', 'Move');
    await page.getByRole('radio', { name: 'All files (no folder)' }).check();
    await page.getByRole('button', { name: 'Move here' }).click();
    await page.getByText('No files here yet').waitFor();
    await path.getByRole('link', { name: 'All files' }).click();
    await menuOf('Rushes', 'Delete');
    await page.getByRole('button', { name: 'Delete folder' }).click();
    await page.getByRole('link', { name: 'Rushes', exact: true }).waitFor({ state: 'detached' });
    const { data } = await fixture().service.client.folders.list({ params: { id } });
    expect(data).toMatchObject([{ name: 'Day two', parent: null }]);
    expect(visit.takeConsoleErrors(/409/)).toEqual([]);
  });

  test('versions have files and a status; only owners and managers reopen a closed one', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    const { projectId } = fixture().service;
    await visit.open(`/projects/${projectId}/versions`);
    await page.getByRole('button', { name: 'New version' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Third cut');
    await form.getByLabel('Description').fill('With titles.');
    await form.getByRole('group', { name: 'Files' }).getByRole('checkbox').first().check();
    await visit.expectAccessible('the form for a version');
    await form.getByRole('button', { name: 'Create version' }).click();
    await page.getByRole('list', { name: 'Files of the version' }).getByRole('listitem').waitFor();
    await page.reload();
    await page.getByText('With titles.').waitFor();
    await page.getByRole('button', { name: /Review status of Third cut: Needs review/ }).click();
    await page.getByRole('menuitem', { name: 'Closed' }).click();
    await page.getByRole('button', { name: /Review status of Third cut: Closed/ }).waitFor();
    await visit.expectAccessible('a version');
    const address = new URL(page.url()).pathname;

    await using other = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    await other.open(address);
    await other.page.getByRole('button', { name: /Review status of Third cut: Closed/ }).click();
    const approved = other.page.getByRole('menuitem', { name: 'Approved' });
    await approved.getByText('only an owner or a manager can reopen it').waitFor();
    await other.expectAccessible('why a closed version stays closed');
    await approved.click({ force: true });
    await expect.poll(() => approved.getAttribute('aria-disabled')).toBe('true');
    const { data } = await fixture().service.client.versions.get({ params: { id: address.slice(-36) } });
    expect(data.status).toBe('CLOSED');
    expect([...visit.takeConsoleErrors(), ...other.takeConsoleErrors()]).toEqual([]);
  });

  test('a version that is shown to restricted reviewers offers to show its files too, and to hide them again', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    const { client, projectId } = fixture().service;
    const [file] = (await client.files.list({ params: { id: projectId }, body: {} })).data;
    if (file === undefined) throw new Error('the project has no file');
    const params = { id: file.id };
    const isShown = async () => (await client.files.get({ params })).data.allowRestricted;
    await client.files.update({ params, body: { allowRestricted: false } });
    const body = { name: 'For guests', files: [{ id: file.id }] };
    const { data } = await client.versions.create({ params: { id: projectId }, body });
    await visit.open(`/projects/${projectId}/versions/${data.id}`);
    const form = page.getByRole('dialog');
    const edit = async (offer: string, isTaken: boolean) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      await form.getByLabel(offer).waitFor({ state: 'detached' });
      await form.getByLabel('Show to restricted reviewers').click();
      if (isTaken) await form.getByLabel(offer).check();
      else await form.getByLabel(offer).waitFor();
      await visit.expectAccessible('the form for a version with an offer');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
    };
    await edit('Show its file too', false);
    expect(await isShown()).toBe(false);
    await client.versions.update({ params: { id: data.id }, body: { allowRestricted: false } });
    await page.reload();
    await edit('Show its file too', true);
    expect(await isShown()).toBe(true);
    await edit('Hide its file too', true);
    expect(await isShown()).toBe(false);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a page of a project is accessible while the project is read', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    const { projectId } = fixture().service;
    const held = Promise.withResolvers<void>();
    await page.route(
      ({ pathname }) => pathname === `/api/projects/${projectId}`,
      async (route) => {
        await held.promise;
        await route.continue();
      },
    );
    await visit.open(`/projects/${projectId}/settings`);
    const loading = page.getByRole('heading', { name: 'Loading', level: 1 });
    await loading.waitFor({ state: 'attached' });
    await visit.expectAccessible('a project that is being read');
    held.resolve();
    await loading.waitFor({ state: 'detached' });
  });

  test('a project can be renamed, scheduled for deletion and restored; it is read-only meanwhile', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    const id = await newProject(visit, 'To be renamed');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name').fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Renamed', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('button', { name: 'Delete in seven days' }).waitFor();
    await visit.expectAccessible('the question before a project is deleted');
    await page.getByRole('button', { name: 'Delete in seven days' }).click();
    await page.getByText('can be read but not changed').waitFor();
    await visit.open(`/projects/${id}`);
    const upload = page.getByRole('button', { name: 'Upload' });
    await expect.poll(() => upload.getAttribute('aria-disabled')).toBe('true');
    await upload.focus();
    await page.getByRole('tooltip').getByText('scheduled for deletion').waitFor();
    await visit.expectAccessible('why nothing can be uploaded');
    await visit.open(`/projects/${id}/settings`);
    await visit.expectAccessible('the settings of a project');
    await page.getByRole('button', { name: 'Keep the project' }).click();
    await page.getByRole('button', { name: 'Delete project' }).waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('saving one setting of a project keeps what somebody else has changed meanwhile', async () => {
    const { client } = fixture().service;
    await using visit = await fixture().visit();
    const { page } = visit;
    const id = await newProject(visit, 'Of two people');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Deadline').fill('2027-03-01');
    await page.getByLabel('Name').fill('Of two peoples');
    await page.getByLabel('Name').fill('Of two people');
    await client.projects.update({ params: { id }, body: { name: 'By the other' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await client.projects.get({ params: { id } })).data).toMatchObject({
      name: 'By the other',
      deadline: '2027-03-01',
    });
    expect(await page.getByLabel('Name').inputValue()).toBe('By the other');
    expect(await page.getByLabel('Deadline').inputValue()).toBe('2027-03-01');
  });

  test('actions that a role or scope forbids are disabled with a reason, and no request fails with 403', async () => {
    const { projectId } = fixture().service;
    await using reviewer = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    const withoutWriting = ['projects:read', 'folders:read', 'files:read'] as const;
    await using reader = await fixture().visit({ key: await fixture().keyOf(OWNER, withoutWriting) });
    for (const [visit, reason] of [
      [reviewer, 'Only owners, managers and members of the project can do this'],
      [reader, `This key lacks the scope ${contract.files.startUpload.metadata.scopes[0]}`],
    ] as const) {
      const { page } = visit;
      await visit.open(`/projects/${projectId}`);
      const upload = page.getByRole('button', { name: 'Upload' });
      await expect.poll(() => upload.getAttribute('aria-disabled')).toBe('true');
      await upload.focus();
      await page.getByRole('tooltip').getByText(reason).waitFor();
      await page.keyboard.press('Escape');
      for (const part of ['versions', 'comments', 'members', 'links', 'settings']) {
        await visit.open(`/projects/${projectId}/${part}`);
        await page.getByRole('link', { name: 'Settings' }).waitFor();
        await visit.settled();
      }
      expect(visit.takeConsoleErrors()).toEqual([]);
    }
  });

  test('roles, failures and request ids are shown whole, and refusals say once what is true', async () => {
    const { service } = fixture();
    const { client } = service;
    /** The number of elements that are wider than their box. */
    const cut = (page: Page, selector: string) =>
      page.evaluate<number>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((e) => e.scrollWidth > e.clientWidth).length`,
      );
    await using restricted = await fixture().visit({ key: await fixture().keyOf('rae@demo.example'), phone: true });
    await restricted.open('/projects');
    await restricted.page.getByText('restricted reviewer').first().waitFor();
    expect(await cut(restricted.page, 'main li span')).toBe(0);
    await restricted.open('/files/FX00000000000000000000');
    await restricted.page.getByRole('button', { name: /^Request / }).waitFor();
    expect(await cut(restricted.page, '[role=alert] *')).toBe(0);
    expect(restricted.takeConsoleErrors(/404/)).toEqual([]);

    const failed = await service.generate('gpt-image-2', 'A lamp [fail]');
    await service.waitForEnd(failed);
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${failed}`);
    await page.getByRole('heading', { name: 'Failed' }).waitFor();
    await expect.poll(() => page.locator('main path[d^="M12 4l9 16H3z"]').count()).toBe(1);

    await using reviewer = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    await reviewer.open(`/runs/${failed}`);
    await reviewer.page.getByRole('note').getByText('The sandbox failed').waitFor();
    await reviewer.settled();
    await expect.poll(() => reviewer.page.getByRole('alert').count()).toBe(0);
    await expect.poll(() => reviewer.page.getByText(/^Only /).count()).toBe(0);
    expect(reviewer.takeConsoleErrors()).toEqual([]);

    const doomed = await fixture().newProject('Doomed');
    await visit.open(`/projects/${doomed}/settings`);
    const remove = page.getByRole('button', { name: 'Delete project' });
    const [red = 0, green = 0] = await remove.evaluate((button) =>
      [...getComputedStyle(button).backgroundColor.matchAll(/\d+/g)].map(Number),
    );
    expect(red).toBeGreaterThan(2 * green);
    await client.projects.delete({ params: { id: doomed } });
    await visit.open(`/projects/${doomed}/comments`);
    await page.getByText('Undo the deletion in its settings first.').first().waitFor();
    await page.getByText('You can undo the deletion in the').waitFor();
    await expect.poll(() => page.getByText('can change your role').count()).toBe(0);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
