import { describe, expect, it } from 'vitest';
import { contract, type ProjectRole, type Room, type Route, SUBJECT_IDS } from './index.ts';

const ROLES: Record<string, ProjectRole> = {
  O: 'PROJECT_OWNER',
  M: 'PROJECT_MANAGER',
  Mb: 'PROJECT_MEMBER',
  R: 'PROJECT_REVIEWER',
  RR: 'PROJECT_RESTRICTED_REVIEWER',
};
const MEMBER = 'O M Mb R RR';
const TIERS: Record<string, string> = { D: 'default', 2: 'tier-2', 3: 'tier-3', 4: 'tier-4' };

/** The specification's table of operations: key, method, path, scopes, roles, tier, tool, success status. */
const TABLE = `
ping.ping | GET | /api/ping | - | - | D | whoami | 200
members.listWorkspace | GET | /api/workspace/members | workspace-members:read | - | D | list_workspace_members | 200
projects.list | QUERY | /api/projects | projects:read | - | 4 | list_projects | 200
projects.create | POST | /api/projects | projects:write | - | 3 | - | 201
projects.get | GET | /api/projects/:id | projects:read | ${MEMBER} | 4 | get_project | 200
projects.update | PATCH | /api/projects/:id | projects:write | O M | 3 | - | 204
projects.delete | POST | /api/projects/:id/delete | projects:write | O | 3 | - | 204
projects.cancelDelete | POST | /api/projects/:id/delete.cancel | projects:write | O | 3 | - | 204
generation.generate | POST | /api/projects/:id/files/upload.generate | ai:generate | O M Mb | 2 | generate_file | 202
models.list | GET | /api/models | ai:generate | - | D | list_models | 200
files.get | GET | /api/files/:id | files:read | ${MEMBER} | 4 | get_file | 200
files.getGeneration | GET | /api/files/:id/generation | files:read | O M Mb | 4 | - | 200
files.list | QUERY | /api/projects/:id/files | files:read | ${MEMBER} | 4 | list_project_files | 200
files.download | GET | /api/files/:id/download | files:download | ${MEMBER} | 4 | get_file_download | 200
files.update | PATCH | /api/files/:id | files:write | O M Mb | 3 | - | 204
files.setTag | PATCH | /api/files/:id/tag | files:write | O M Mb | 3 | - | 204
files.delete | DELETE | /api/files/:id | files:write | O M Mb | 3 | - | 204
files.startUpload | POST | /api/projects/:id/files/upload.multipart | files:write | O M Mb | 3 | - | 201
attachments.startForGeneration | POST | /api/projects/:id/generation-attachments/upload.multipart | ai:generate | O M Mb | 3 | - | 201
attachments.start | POST | /api/projects/:id/comment-attachments/upload.multipart | comments:write | ${MEMBER} | 3 | - | 201
attachments.startOnFile | POST | /api/files/:id/comment-attachments/upload.multipart | comments:write | ${MEMBER} | 3 | - | 201
attachments.complete | POST | /api/comment-attachments/:id/upload.complete | - | ${MEMBER} only starter | 3 | - | 204
attachments.completeForGeneration | POST | /api/generation-attachments/:id/upload.complete | - | ${MEMBER} only starter | 3 | - | 204
files.completeUpload | POST | /api/files/:id/upload.complete | - | ${MEMBER} only starter | 3 | - | 204
files.cancel | POST | /api/files/:id/upload.cancel | ai:generate files:write | O M Mb | 3 | cancel_generation | 204
attachments.cancel | POST | /api/comment-attachments/:id/upload.cancel | - | ${MEMBER} only starter | 3 | - | 204
attachments.cancelForGeneration | POST | /api/generation-attachments/:id/upload.cancel | - | ${MEMBER} only starter | 3 | - | 204
folders.create | POST | /api/projects/:id/folders | folders:write | O M Mb | 3 | create_folder | 201
folders.list | GET | /api/projects/:id/folders | folders:read | ${MEMBER} | D | list_project_folders | 200
folders.update | PATCH | /api/folders/:id | folders:write | O M Mb | 3 | - | 204
folders.delete | DELETE | /api/folders/:id | folders:write | O M Mb | 3 | - | 204
versions.list | GET | /api/projects/:id/versions | - | ${MEMBER} | 4 | list_project_versions | 200
versions.create | POST | /api/projects/:id/versions | projects:write | O M Mb | 3 | - | 201
versions.get | GET | /api/versions/:id | - | ${MEMBER} | 4 | - | 200
versions.update | PATCH | /api/versions/:id | projects:write | O M Mb | 3 | - | 204
versions.setStatus | PATCH | /api/versions/:id/status | projects:write | O M Mb R | 4 | - | 204
members.list | GET | /api/projects/:id/members | project-members:read | ${MEMBER} | D | list_project_members | 200
members.add | POST | /api/projects/:id/members | project-members:write | O M | 3 | add_project_members | 201
members.update | PATCH | /api/project-members/:id | project-members:write | O M | 3 | - | 204
members.remove | DELETE | /api/project-members/:id | project-members:write | O M | 3 | - | 204
comments.create | POST | /api/projects/:id/comments | comments:write | ${MEMBER} | 4 | create_project_comment | 201
comments.createOnFile | POST | /api/files/:id/comments | comments:write | ${MEMBER} | 4 | create_file_comment | 201
comments.list | QUERY | /api/projects/:id/comments | comments:read | ${MEMBER} | 4 | list_project_comments | 200
comments.listOnFile | QUERY | /api/files/:id/comments | comments:read | ${MEMBER} | 4 | list_file_comments | 200
comments.listReplies | QUERY | /api/comments/:id/replies | comments:read | ${MEMBER} | 4 | list_comment_replies | 200
comments.get | GET | /api/comments/:id | comments:read | ${MEMBER} | 4 | - | 200
comments.update | PATCH | /api/comments/:id | comments:write | ${MEMBER} only author | 4 | - | 204
comments.delete | DELETE | /api/comments/:id | comments:write | ${MEMBER} only author-or-lead | 4 | - | 204
comments.resolve | POST | /api/comments/:id/resolve | comments:write | O M Mb R | 4 | - | 204
comments.cancelResolve | POST | /api/comments/:id/resolve.cancel | comments:write | O M Mb R | 4 | - | 204
attachments.download | GET | /api/comment-attachments/:id/download | comments:download | ${MEMBER} | 4 | - | 200
reactions.create | POST | /api/comments/:id/reactions | - | ${MEMBER} | 4 | - | 204
reactions.delete | DELETE | /api/comments/:id/reactions | - | ${MEMBER} | 4 | - | 204
reactions.list | GET | /api/comments/:id/reactions | comments:read | ${MEMBER} | 4 | - | 200
accessLinks.get | GET | /api/project-access-links/:id | access-links:read | O M | D | get_project_access_link | 200
accessLinks.list | QUERY | /api/projects/:id/access-links | access-links:read | O M | D | list_project_access_links | 200
accessLinks.create | POST | /api/projects/:id/access-links | access-links:write | O M | 3 | - | 201
accessLinks.delete | DELETE | /api/project-access-links/:id | access-links:write | O M | 3 | - | 204
accessLinks.redeem | POST | /api/project-access-links/redeem | - | - | 3 | - | 201
skills.update | PATCH | /api/skills/:id | skills:write | - | D | update_skill | 204
skills.publish | POST | /api/skills/:id/versions | skills:write | - | 3 | publish_skill_version | 201
skills.list | QUERY | /api/skills | skills:read | - | D | list_skills | 200
skills.get | GET | /api/skills/:id | skills:read | - | D | get_skill | 200
skills.export | GET | /api/skills/:id/export | skills:read | - | D | - | 200
skills.getVersion | GET | /api/skill-versions/:id | skills:read | - | D | - | 200
skills.create | POST | /api/skills | skills:write | - | 3 | - | 201
skills.delete | DELETE | /api/skills/:id | skills:write | - | 3 | - | 204
skills.deleteVersion | DELETE | /api/skill-versions/:id | skills:write | - | 3 | - | 204
`;

const rooms: Record<string, Room> = contract;
const routes = new Map<string, Route>(
  Object.entries(rooms).flatMap(([room, verbs]) =>
    Object.entries(verbs).map(([verb, route]) => [`${room}.${verb}`, route] as const),
  ),
);
const words = (cell: string | undefined) => (cell === '-' || cell === undefined ? [] : cell.split(' '));
const rows = TABLE.trim()
  .split('\n')
  .map((line) => line.split(' | '));

describe('the contract against the table of operations', () => {
  it.each(rows)('%s', (key = '', method, path, scopes, roles = '-', tier = '', tool, status) => {
    const route = routes.get(key);
    const [roleWords = '-', only] = roles.split(' only ');
    expect({ method: route?.method, path: route?.path, status: Object.keys(route?.responses ?? {}) }).toEqual({
      method,
      path,
      status: [status],
    });
    expect(route?.metadata.scopes).toEqual(words(scopes));
    expect(route?.metadata.roles).toEqual(words(roleWords).map((role) => ROLES[role]));
    expect(route?.metadata.tier).toBe(TIERS[tier]);
    expect(route?.metadata.tool).toBe(tool === '-' ? undefined : tool);
    expect(route?.metadata.only).toBe(only);
  });

  it('has no operation outside the table', () => {
    expect([...routes.keys()].sort()).toEqual(rows.map(([key]) => key).sort());
  });
});

describe('every route', () => {
  it.each([...routes])('%s has rules that fit its path', (_, route) => {
    expect(route.summary).not.toBe('');
    expect(route.metadata.subject !== null).toBe(route.path.includes(':id'));
    const { subject, roles } = route.metadata;
    if (subject !== null) expect(Object.keys(SUBJECT_IDS)).toContain(subject);
    const ofWorkspace = subject === null || subject === 'skill' || subject === 'skill-version';
    expect(roles.length === 0).toBe(ofWorkspace);
  });

  it('has a unique tool name and address', () => {
    const all = [...routes.values()];
    const tools = all.flatMap((route) => route.metadata.tool ?? []);
    const addresses = all.map((route) => `${route.method} ${route.path}`);
    expect(new Set(tools).size).toBe(tools.length);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it('that creates a record has a location, or null', () => {
    const silent = [...routes].filter(([, route]) => 201 in route.responses && route.metadata.location === undefined);
    expect(silent.map(([key]) => key)).toEqual([]);
    const readable = [...routes.values()].filter(({ method }) => method === 'GET').map(({ path }) => path);
    for (const { metadata } of routes.values()) if (metadata.location) expect(readable).toContain(metadata.location);
  });

  it('that changes a record with an ETag supports If-Match', () => {
    const tagged = [...routes.values()].flatMap(({ metadata }) => (metadata.conditional ? [metadata.subject] : []));
    expect(tagged.sort()).toEqual(['comment', 'file', 'project', 'skill', 'version']);
    for (const [key, { method, metadata }] of routes) {
      const changes = method === 'PATCH' && tagged.includes(metadata.subject);
      expect([key, metadata.ifMatch ?? false]).toEqual([key, changes]);
    }
  });

  it('has a larger body limit only for lists of upload parts', () => {
    const larger = [...routes].filter(([, route]) => route.metadata.bodyLimit !== undefined);
    expect(larger.map(([, route]) => [route.path.split('/').at(-1), route.metadata.bodyLimit])).toEqual(
      Array.from({ length: 3 }, () => ['upload.complete', 4 * 1024 * 1024]),
    );
  });
});
