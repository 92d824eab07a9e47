import { type Client, upload } from '@review/client';
import type { Subject } from '@review/contract';

/** The ids of one record of each kind, all in a project of their own. */
export type Records = Record<Subject, string> & {
  /** A file that waits for a worker. */
  generation: string;
  /** A person of the workspace who is not in the project. */
  stranger: string;
};

const bytes = new TextEncoder().encode('A treatment for a film about a lamp.');

/** Creates a project with a record of each kind, for requests that must not disturb those of other operations. */
export async function newRecords(client: Client): Promise<Records> {
  const { id } = (await client.projects.create({ body: { name: 'Fuzzed' } })).data;
  const params = { id };
  const folder = (await client.folders.create({ params, body: { name: 'Rushes' } })).data;
  const source = { source: bytes, name: 'treatment.txt' };
  const file = await upload(client, { to: { project: id }, ...source });
  const trashed = await upload(client, { to: { project: id }, ...source });
  await client.files.delete({ params: trashed });
  const commentAttachment = await upload(client, { to: { project: id, kind: 'comment' }, ...source });
  const generationAttachment = await upload(client, { to: { project: id, kind: 'generation' }, ...source });
  const version = (await client.versions.create({ params, body: { name: 'First cut', files: [file] } })).data;
  const comment = (await client.comments.createOnFile({ params: file, body: { content: 'Hold this longer' } })).data;
  await client.reactions.create({ params: comment, body: { type: '👍' } });
  const link = (await client.accessLinks.create({ params, body: { role: 'PROJECT_REVIEWER' } })).data;
  const members = (await client.members.list({ params })).data;
  const people = (await client.members.listWorkspace()).data.map(({ user }) => user);
  const [user, stranger] = people.filter(({ id }) => !members.some((member) => member.user.id === id));
  if (user === undefined || stranger === undefined) throw new Error('the workspace has too few people');
  await client.members.add({ params, body: { members: [{ user: { id: user.id }, role: 'PROJECT_REVIEWER' }] } });
  const member = (await client.members.list({ params })).data.find((each) => each.user.id === user.id);
  const webhook = (
    await client.webhooks.create({ params, body: { url: 'https://receiver.example/hook', types: ['comment.created'] } })
  ).data;
  await client.webhooks.test({ params: webhook });
  const [delivery] = (await client.webhooks.deliveries({ params: webhook, body: {} })).data;
  const skill = (await client.skills.create({ body: { name: 'look-twice', description: 'Looks at a cut.' } })).data;
  await client.skills.publish({ params: skill, body: { content: 'Look.' } });
  const publish = { params: skill, body: { content: 'Look twice.', isDefault: false } };
  const skillVersion = (await client.skills.publish(publish)).data;
  const order = { outputModel: 'pdf', prompt: 'A lamp', folder: null, attachments: [] };
  const generation = (await client.generation.generate({ params, body: { outputType: 'DOCUMENT', ...order } })).data;
  return {
    project: id,
    file: file.id,
    'stored-file': trashed.id,
    folder: folder.id,
    version: version.id,
    'project-member': member?.id ?? '',
    comment: comment.id,
    'comment-attachment': commentAttachment.id,
    'generation-attachment': generationAttachment.id,
    'access-link': link.id,
    webhook: webhook.id,
    'webhook-delivery': delivery?.id ?? '',
    skill: skill.id,
    'skill-version': skillVersion.id,
    generation: generation.id,
    stranger: stranger.id,
  };
}
