import { accessLinks } from './access-links.ts';
import { attachments } from './attachments.ts';
import { comments } from './comments.ts';
import { events } from './events.ts';
import { files } from './files.ts';
import { folders } from './folders.ts';
import { generation } from './generation.ts';
import { members } from './members.ts';
import { models } from './models.ts';
import { ping } from './ping.ts';
import { projects } from './projects.ts';
import { reactions } from './reactions.ts';
import { search } from './search.ts';
import { skills } from './skills.ts';
import { versions } from './versions.ts';
import { webhooks } from './webhooks.ts';

/** Every endpoint of the service. Server, client, tools, console and OpenAPI documents derive from it. */
export const contract = {
  ping,
  projects,
  files,
  generation,
  models,
  folders,
  versions,
  members,
  comments,
  reactions,
  attachments,
  accessLinks,
  skills,
  search,
  events,
  webhooks,
};
export type Contract = typeof contract;
