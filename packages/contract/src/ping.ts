import { z } from 'zod';
import { Scope } from './access.ts';
import { data, room } from './endpoint.ts';
import { Uuid } from './ids.ts';

export const Workspace = z.object({ id: Uuid, name: z.string(), avatarUrl: z.string().nullable() });
export type Workspace = z.infer<typeof Workspace>;

export const ping = room({
  ping: {
    method: 'GET',
    path: '/api/ping',
    summary: 'Check the credential and read its workspace and scopes',
    responses: { 200: data(z.object({ pong: z.literal(true), workspace: Workspace, scopes: z.array(Scope) })) },
    metadata: { tool: 'whoami', tier: 'default', scopes: [], subject: null, roles: [] },
  },
});
