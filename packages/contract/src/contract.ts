import { accessLinks } from './access-links.ts';
import { attachments } from './attachments.ts';
import { comments } from './comments.ts';
import { files } from './files.ts';
import { folders } from './folders.ts';
import { generation } from './generation.ts';
import { members } from './members.ts';
import { models } from './models.ts';
import { ping } from './ping.ts';
import { projects } from './projects.ts';
import { reactions } from './reactions.ts';
import { skills } from './skills.ts';
import { versions } from './versions.ts';

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
};
export type Contract = typeof contract;
