import { type Bodies, partsOf, testAccess, UPLOAD } from '../../test/access.ts';
import { onEachDatabase } from '../../test/house.ts';

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  GET /api/files/:id                            | files:read              | member  | 4 | get_file           | 200
  GET /api/files/:id/generation                 | files:read              | O M Mb  | 4 | -                  | 200
  QUERY /api/projects/:id/files                 | files:read              | member  | 4 | list_project_files | 200
  GET /api/files/:id/download                   | files:download          | member  | 4 | get_file_download  | 200
  PATCH /api/files/:id                          | files:write             | O M Mb  | 3 | -                  | 204
  PATCH /api/files/:id/tag                      | files:write             | O M Mb  | 3 | -                  | 204
  DELETE /api/files/:id                         | files:write             | O M Mb  | 3 | -                  | 204
  POST /api/files/:id/restore                   | files:write             | O M Mb  | 3 | -                  | 204
  QUERY /api/projects/:id/trash                 | files:read              | O M Mb  | 4 | -                  | 200
  POST /api/files/:id/media.rebuild             | files:write             | O M Mb  | 3 | -                  | 204
  POST /api/projects/:id/files/upload.multipart | files:write             | O M Mb  | 3 | -                  | 201
  POST /api/files/:id/upload.complete           | -                       | starter | 3 | -                  | 204
  POST /api/files/:id/upload.cancel             | ai:generate files:write | O M Mb  | 3 | cancel_generation  | 204`;

const BODIES: Bodies = {
  'QUERY /api/projects/:id/files': () => ({}),
  'QUERY /api/projects/:id/trash': () => ({}),
  'PATCH /api/files/:id': () => ({ name: 'renamed.txt' }),
  'PATCH /api/files/:id/tag': () => ({ tag: 'APPROVED' }),
  'POST /api/projects/:id/files/upload.multipart': () => UPLOAD,
  'POST /api/files/:id/upload.complete': (_, upload) => partsOf(upload),
};

onEachDatabase((house) => {
  testAccess(house, 'files', ACCESS, BODIES);
});
