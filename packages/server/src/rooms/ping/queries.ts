import { type Param, prepared } from '../../db/prepared.ts';

export const getWorkspace = prepared.one((db, id: Param<string>) =>
  db.selectFrom('workspaces').select(['id', 'name', 'avatar_url as avatarUrl']).where('id', '=', id),
);
