import { type Bodies, testAccess } from '../../test/access.ts';
import { onEachDatabase } from '../../test/house.ts';

/** Method, path, scopes, roles and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  QUERY /api/projects                  | projects:read  | -      | 200
  POST /api/projects                   | projects:write | -      | 201
  GET /api/projects/:id                | projects:read  | member | 200
  PATCH /api/projects/:id              | projects:write | O M    | 204
  POST /api/projects/:id/delete        | projects:write | O      | 204
  POST /api/projects/:id/delete.cancel | projects:write | O      | 204`;

const BODIES: Bodies = {
  'QUERY /api/projects': () => ({}),
  'POST /api/projects': () => ({ name: 'New' }),
  'PATCH /api/projects/:id': () => ({ name: 'Renamed' }),
};

onEachDatabase((house) => {
  testAccess(house, 'projects', ACCESS, BODIES);
});
