import { createClient } from '../client.ts';
import { download } from '../download.ts';
import { generate, waitFor } from '../generate.ts';
import { items, pages } from '../pages.ts';
import { upload } from '../upload.ts';
import { createWorkerClient } from '../worker.ts';

/** Calls that must not compile: `tsc` reports an expected error that does not occur. Nothing runs. */
const client = createClient({ baseUrl: 'https://review.example.com', token: 'key' });
const params = { id: 'x' };
const film = { outputType: 'VIDEO', outputModel: 'veo-3.1-generate-preview', prompt: 'Fog' } as const;

export const wrongUses = [
  // @ts-expect-error an address is needed
  () => createClient({ token: 'key' }),
  // @ts-expect-error a token is needed
  () => createClient({ baseUrl: 'https://review.example.com' }),
  // @ts-expect-error a token is text
  () => createClient({ baseUrl: 'https://review.example.com', token: async () => 7 }),
  // @ts-expect-error an unknown query mode
  () => createClient({ baseUrl: 'https://review.example.com', token: 'key', query: 'post' }),
  // @ts-expect-error an unknown room
  () => client.movies.list(),
  // @ts-expect-error an unknown operation
  () => client.folders.copy({ params }),
  // @ts-expect-error the path has an id
  () => client.folders.create({ body: { name: 'Cuts' } }),
  // @ts-expect-error the body is needed
  () => client.folders.create({ params }),
  // @ts-expect-error the request is needed
  () => client.files.get(),
  // @ts-expect-error a name is text
  () => client.folders.create({ params, body: { name: 7 } }),
  // @ts-expect-error a misspelt field
  () => client.folders.create({ params, body: { name: 'Cuts', parents: { id: 'DX1' } } }),
  // @ts-expect-error a reference is an object
  () => client.folders.create({ params, body: { name: 'Cuts', parent: 'DX1' } }),
  // @ts-expect-error a misspelt parameter
  () => client.files.get({ params, query: { wiat: 60 } }),
  // @ts-expect-error no such status
  () => client.versions.setStatus({ params, body: { status: 'DONE' } }),
  // @ts-expect-error the role of owner cannot be assigned
  () => client.members.add({ params, body: { members: [{ user: { id: 'x' }, role: 'PROJECT_OWNER' }] } }),
  // @ts-expect-error an action without parameters has no body
  () => client.comments.resolve({ params, body: {} }),
  // @ts-expect-error the method is not an option
  () => client.ping.ping({}, { method: 'POST' }),
  // @ts-expect-error a signal, not its controller
  () => client.ping.ping({}, { signal: new AbortController() }),
  // @ts-expect-error an update answers nothing
  async () => (await client.files.update({ params, body: {} })).data,
  // @ts-expect-error the result has no status
  async () => (await client.files.get({ params })).status,
  // @ts-expect-error a file may have no generation
  async () => (await client.files.get({ params })).data.generation.status,
  // @ts-expect-error text has no data
  async () => (await client.skills.export({ params })).data,

  // @ts-expect-error the list of members has no pages
  () => items(client.members.list, { params }),
  // @ts-expect-error a call that lists nothing
  () => pages(client.files.get, { params }),
  // @ts-expect-error a misspelt filter
  () => items(client.comments.list, { params, body: { resolvd: true } }),
  // @ts-expect-error the path has an id
  () => items(client.comments.list, { body: {} }),
  // @ts-expect-error cursors are not numbers
  () => items(client.projects.list, { body: { next: 2 } }),
  // @ts-expect-error versions have page numbers
  () => items(client.versions.list, { params, body: { next: 'x' } }),
  // @ts-expect-error a page of numbers has no cursor
  async () => (await pages(client.versions.list, { params }).next()).value?.page.next,

  // @ts-expect-error a project is needed
  () => generate(client, film),
  // @ts-expect-error no such type
  () => generate(client, { ...film, project: 'x', outputType: 'SOUND' }),
  // @ts-expect-error a misspelt setting must not buy the wrong video
  () => generate(client, { ...film, project: 'x', configs: { duration: 8 } }),
  // @ts-expect-error a worker client cannot generate
  () => generate(createWorkerClient({ baseUrl: 'https://x', token: '' }), { ...film, project: 'x' }),
  // @ts-expect-error a file always has a status
  async () => (await waitFor(client, 'FX1')).status === 'DONE',

  // @ts-expect-error a target is needed
  () => upload(client, { source: new Blob(['x']) }),
  // @ts-expect-error a reference for generations belongs to a project
  () => upload(client, { to: { file: 'FX1', kind: 'generation' }, source: new Blob(['x']) }),
  // @ts-expect-error not bytes
  () => upload(client, { to: { project: 'x' }, source: 7 }),
  // @ts-expect-error `to` is a path
  () => download(client, 'FX1', { to: new Blob(['x']) }),
  // @ts-expect-error a download to a path returns nothing
  async () => (await download(client, 'FX1', { to: 'x.mp4' })).size,
];
