import type { Contract } from '@review/contract';
import type { Deps } from './deps.ts';
import { folders } from './folders/handlers.ts';
import type { Handlers } from './http/handler.ts';
import { members } from './members/handlers.ts';
import { models } from './models/handlers.ts';
import { ping } from './ping/handlers.ts';
import { projects } from './projects/handlers.ts';

/** Rooms of the contract that answer 501 for now. */
type Pending =
  | 'files'
  | 'generation'
  | 'versions'
  | 'comments'
  | 'reactions'
  | 'attachments'
  | 'accessLinks'
  | 'skills';

type Rooms = { [Room in Exclude<keyof Contract, Pending>]: Handlers<Contract[Room]> };

/** The handlers of every room: a room of the contract that is missing here does not compile. */
export const rooms = (deps: Deps): Rooms => ({
  ping: ping(deps),
  projects: projects(deps),
  folders: folders(deps),
  members: members(deps),
  models: models(deps),
});
