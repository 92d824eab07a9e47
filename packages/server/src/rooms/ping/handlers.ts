import type { Contract } from '@review/contract';
import type { Deps } from '../../deps.ts';
import type { Handlers } from '../handler.ts';
import { getWorkspace } from './queries.ts';

export const ping = ({ db }: Deps): Handlers<Contract['ping']> => ({
  async ping({ caller }) {
    const workspace = await getWorkspace(db, caller.workspaceId);
    return { data: { pong: true, workspace, scopes: [...caller.scopes] } };
  },
});
