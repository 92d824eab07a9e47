import { type Bodies, testAccess } from '../../test/access.ts';
import { onEachDatabase } from '../../test/house.ts';

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  QUERY /api/projects                  | projects:read  | -      | 4 | list_projects | 200
  POST /api/projects                   | projects:write | -      | 3 | -             | 201
  GET /api/projects/:id                | projects:read  | member | 4 | get_project   | 200
  PATCH /api/projects/:id              | projects:write | O M    | 3 | -             | 204
  POST /api/projects/:id/delete        | projects:write | O      | 3 | -             | 204
  POST /api/projects/:id/delete.cancel | projects:write | O      | 3 | -             | 204`;

const BODIES: Bodies = {
  'QUERY /api/projects': () => ({}),
  'POST /api/projects': () => ({ name: 'New' }),
  'PATCH /api/projects/:id': () => ({ name: 'Renamed' }),
};

onEachDatabase((house) => {
  testAccess(house, 'projects', ACCESS, BODIES);
});
