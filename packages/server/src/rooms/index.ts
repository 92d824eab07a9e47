import type { Contract } from '@review/contract';
import type { Deps } from '../deps.ts';
import { accessLinks } from './access-links/handlers.ts';
import { attachments } from './attachments/handlers.ts';
import { comments } from './comments/handlers.ts';
import { events } from './events/handlers.ts';
import { files } from './files/handlers.ts';
import { folders } from './folders/handlers.ts';
import { generation } from './generation/handlers.ts';
import type { Handlers } from './handler.ts';
import { members } from './members/handlers.ts';
import { models } from './models/handlers.ts';
import { ping } from './ping/handlers.ts';
import { projects } from './projects/handlers.ts';
import { reactions } from './reactions/handlers.ts';
import { search } from './search/handlers.ts';
import { skills } from './skills/handlers.ts';
import { versions } from './versions/handlers.ts';
import { webhooks } from './webhooks/handlers.ts';

type Rooms = { [Room in keyof Contract]: Handlers<Contract[Room]> };

/** The handlers of all rooms: a missing room does not compile. */
export const rooms = (deps: Deps): Rooms => ({
  ping: ping(deps),
  projects: projects(deps),
  files: files(deps),
  generation: generation(deps),
  models: models(deps),
  folders: folders(deps),
  versions: versions(deps),
  members: members(deps),
  comments: comments(deps),
  reactions: reactions(deps),
  attachments: attachments(deps),
  accessLinks: accessLinks(deps),
  skills: skills(deps),
  search: search(deps),
  events: events(deps),
  webhooks: webhooks(deps),
});
