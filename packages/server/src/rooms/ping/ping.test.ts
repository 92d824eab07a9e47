import { SCOPES } from '@review/contract';
import { expect, test } from 'vitest';
import { testAccess } from '../../test/access.ts';
import { onEachDatabase } from '../../test/house.ts';

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  GET /api/ping | - | - | D | whoami | 200`;

onEachDatabase((house) => {
  test('ping answers the workspace and the scopes of the credential', async () => {
    const { people, workspaceId } = house();
    const answer = await people.reviewer.client.ping.ping();
    expect(answer).toEqual({
      data: { pong: true, workspace: { id: workspaceId, name: 'Studio', avatarUrl: null }, scopes: [...SCOPES] },
    });
  });

  test('ping shows only the scopes the credential holds', async () => {
    const person = await house().withScopes('owner', ['files:read', 'ai:generate']);
    const answer = await person.client.ping.ping();
    expect(answer.data.scopes).toEqual(['files:read', 'ai:generate']);
  });

  testAccess(house, 'ping', ACCESS);
});
