import type { ProjectRole, Scope } from '@review/contract';

/** An operation of the specification's table: its permissions and its success status. */
export interface Operation {
  method: string;
  path: string;
  /** One of these is required; empty if any credential suffices. */
  scopes: Scope[];
  /** Empty for operations without a project. */
  roles: ProjectRole[];
  /** A person in the record, such as its author, beside or instead of the roles. */
  named: 'starter' | 'author' | null;
  status: number;
}

/** Section 13 of the design: method, path, scopes, roles, success. Independent of the contract, to check it. */
const TABLE = `
GET    /api/ping                                                | -                      | -         | 200
GET    /api/workspace/members                                   | workspace-members:read | -         | 200
QUERY  /api/projects                                            | projects:read          | -         | 200
POST   /api/projects                                            | projects:write         | -         | 201
GET    /api/projects/:id                                        | projects:read          | member    | 200
PATCH  /api/projects/:id                                        | projects:write         | O M       | 204
POST   /api/projects/:id/delete                                 | projects:write         | O         | 204
POST   /api/projects/:id/delete.cancel                          | projects:write         | O         | 204
POST   /api/projects/:id/files/upload.generate                  | ai:generate            | O M Mb    | 202
GET    /api/models                                              | ai:generate            | -         | 200
GET    /api/files/:id                                           | files:read             | member    | 200
GET    /api/files/:id/generation                                | files:read             | O M Mb    | 200
QUERY  /api/projects/:id/files                                  | files:read             | member    | 200
GET    /api/files/:id/download                                  | files:download         | member    | 200
PATCH  /api/files/:id                                           | files:write            | O M Mb    | 204
PATCH  /api/files/:id/tag                                       | files:write            | O M Mb    | 204
DELETE /api/files/:id                                           | files:write            | O M Mb    | 204
POST   /api/projects/:id/files/upload.multipart                 | files:write            | O M Mb    | 201
POST   /api/projects/:id/generation-attachments/upload.multipart | ai:generate           | O M Mb    | 201
POST   /api/projects/:id/comment-attachments/upload.multipart   | comments:write         | member    | 201
POST   /api/files/:id/comment-attachments/upload.multipart      | comments:write         | member    | 201
POST   /api/files/:id/upload.complete                           | -                      | starter   | 204
POST   /api/generation-attachments/:id/upload.complete          | -                      | starter   | 204
POST   /api/comment-attachments/:id/upload.complete             | -                      | starter   | 204
POST   /api/files/:id/upload.cancel                             | ai:generate files:write | O M Mb   | 204
POST   /api/generation-attachments/:id/upload.cancel            | -                      | starter   | 204
POST   /api/comment-attachments/:id/upload.cancel               | -                      | starter   | 204
POST   /api/projects/:id/folders                                | folders:write          | O M Mb    | 201
GET    /api/projects/:id/folders                                | folders:read           | member    | 200
PATCH  /api/folders/:id                                         | folders:write          | O M Mb    | 204
DELETE /api/folders/:id                                         | folders:write          | O M Mb    | 204
GET    /api/projects/:id/versions                               | -                      | member    | 200
POST   /api/projects/:id/versions                               | projects:write         | O M Mb    | 201
GET    /api/versions/:id                                        | -                      | member    | 200
PATCH  /api/versions/:id                                        | projects:write         | O M Mb    | 204
PATCH  /api/versions/:id/status                                 | projects:write         | O M Mb R  | 204
GET    /api/projects/:id/members                                | project-members:read   | member    | 200
POST   /api/projects/:id/members                                | project-members:write  | O M       | 201
PATCH  /api/project-members/:id                                 | project-members:write  | O M       | 204
DELETE /api/project-members/:id                                 | project-members:write  | O M       | 204
POST   /api/projects/:id/comments                               | comments:write         | member    | 201
POST   /api/files/:id/comments                                  | comments:write         | member    | 201
QUERY  /api/projects/:id/comments                               | comments:read          | member    | 200
QUERY  /api/files/:id/comments                                  | comments:read          | member    | 200
QUERY  /api/comments/:id/replies                                | comments:read          | member    | 200
GET    /api/comments/:id                                        | comments:read          | member    | 200
PATCH  /api/comments/:id                                        | comments:write         | author    | 204
DELETE /api/comments/:id                                        | comments:write         | author O M | 204
POST   /api/comments/:id/resolve                                | comments:write         | O M Mb R  | 204
POST   /api/comments/:id/resolve.cancel                         | comments:write         | O M Mb R  | 204
GET    /api/comment-attachments/:id/download                    | comments:download      | member    | 200
POST   /api/comments/:id/reactions                              | -                      | member    | 204
DELETE /api/comments/:id/reactions                              | -                      | member    | 204
GET    /api/comments/:id/reactions                              | comments:read          | member    | 200
GET    /api/project-access-links/:id                            | access-links:read      | O M       | 200
QUERY  /api/projects/:id/access-links                           | access-links:read      | O M       | 200
POST   /api/projects/:id/access-links                           | access-links:write     | O M       | 201
DELETE /api/project-access-links/:id                            | access-links:write     | O M       | 204
POST   /api/project-access-links/redeem                         | -                      | -         | 201
PATCH  /api/skills/:id                                          | skills:write           | -         | 204
POST   /api/skills/:id/versions                                 | skills:write           | -         | 201
QUERY  /api/skills                                              | skills:read            | -         | 200
GET    /api/skills/:id                                          | skills:read            | -         | 200
GET    /api/skills/:id/export                                   | skills:read            | -         | 200
GET    /api/skill-versions/:id                                  | skills:read            | -         | 200
POST   /api/skills                                              | skills:write           | -         | 201
DELETE /api/skills/:id                                          | skills:write           | -         | 204
DELETE /api/skill-versions/:id                                  | skills:write           | -         | 204`;

const ROLES: Record<string, ProjectRole> = {
  O: 'PROJECT_OWNER',
  M: 'PROJECT_MANAGER',
  Mb: 'PROJECT_MEMBER',
  R: 'PROJECT_REVIEWER',
  RR: 'PROJECT_RESTRICTED_REVIEWER',
};

const words = (cell: string) => (cell === '-' ? [] : cell.split(' '));

export const OPERATIONS: readonly Operation[] = TABLE.trim()
  .split('\n')
  .flatMap((line) => {
    const [call = '', scopes = '', roles = '', status] = line.split('|').map((cell) => cell.trim());
    const [method = '', path = ''] = call.split(/ +/);
    const operation: Operation = {
      method,
      path,
      scopes: words(scopes) as Scope[],
      roles: words(roles.replace('member', 'O M Mb R RR')).flatMap((role) => ROLES[role] ?? []),
      named: roles.startsWith('starter') ? 'starter' : roles.startsWith('author') ? 'author' : null,
      status: Number(status),
    };
    // Section 7: every QUERY list is also a GET.
    return method === 'QUERY' ? [operation, { ...operation, method: 'GET' }] : [operation];
  });
