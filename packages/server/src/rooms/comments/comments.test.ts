import { type Bodies, testAccess } from '../../test/access.ts';
import { onEachDatabase } from '../../test/house.ts';

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  POST /api/projects/:id/comments       | comments:write | member     | 4 | create_project_comment | 201
  POST /api/files/:id/comments          | comments:write | member     | 4 | create_file_comment    | 201
  QUERY /api/projects/:id/comments      | comments:read  | member     | 4 | list_project_comments  | 200
  QUERY /api/files/:id/comments         | comments:read  | member     | 4 | list_file_comments     | 200
  GET /api/files/:id/comments/pins      | comments:read  | member     | 4 | -                      | 200
  GET /api/files/:id/comments/export    | comments:read  | member     | 4 | -                      | 200
  QUERY /api/comments/:id/replies       | comments:read  | member     | 4 | list_comment_replies   | 200
  GET /api/comments/:id                 | comments:read  | member     | 4 | -                      | 200
  PATCH /api/comments/:id               | comments:write | author     | 4 | -                      | 204
  DELETE /api/comments/:id              | comments:write | author O M | 4 | -                      | 204
  POST /api/comments/:id/resolve        | comments:write | O M Mb R   | 4 | -                      | 204
  POST /api/comments/:id/resolve.cancel | comments:write | O M Mb R   | 4 | -                      | 204`;

const BODIES: Bodies = {
  'POST /api/projects/:id/comments': () => ({ content: 'Good.' }),
  'POST /api/files/:id/comments': () => ({ content: 'Good.' }),
  'QUERY /api/projects/:id/comments': () => ({}),
  'QUERY /api/files/:id/comments': () => ({}),
  'QUERY /api/comments/:id/replies': () => ({}),
  'PATCH /api/comments/:id': () => ({ content: 'Better.' }),
};

onEachDatabase((house) => {
  testAccess(house, 'comments', ACCESS, BODIES);
});
