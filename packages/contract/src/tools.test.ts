import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { contractTools, type Tool } from './index.ts';

const tools = contractTools();
const named = (name: string): Tool => {
  const tool = tools.find((candidate) => candidate.definition.name === name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  return tool;
};
const hints = (name: string) =>
  Object.entries(named(name).definition.annotations).flatMap(([hint, holds]) =>
    holds ? [hint.replace('Hint', '')] : [],
  );

const Node = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ description: z.string().optional() })).default({}),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).default([]),
});

/** Lists the properties of a schema without a description. */
function undescribed(schema: unknown, path: string): string[] {
  const { properties, items, anyOf } = Node.parse(schema ?? {});
  const own = Object.entries(properties).flatMap(([name, property]) => [
    ...(property.description ? [] : [`${path}.${name}`]),
    ...undescribed(property, `${path}.${name}`),
  ]);
  return [...own, ...[items, ...anyOf].flatMap((inner) => (inner === undefined ? [] : undescribed(inner, path)))];
}

/** The names of the reference, then those of the design. */
const NAMES = [
  'whoami generate_file create_folder list_project_members add_project_members create_project_comment',
  'get_project_access_link update_skill publish_skill_version',
  'list_workspace_members list_projects get_project list_models get_file list_project_files cancel_generation',
  'list_project_versions create_file_comment list_project_comments list_skills get_skill',
  'get_file_download list_file_comments list_comment_replies list_project_folders list_project_access_links',
  'list_versions_to_review',
].flatMap((line) => line.split(' '));

describe('tools', () => {
  it('are exactly those of the specification', () => {
    expect(tools.map(({ definition }) => definition.name).sort()).toEqual([...NAMES].sort());
  });

  it.each(tools.map(({ definition, route }) => [definition.name, definition, route] as const))(
    '%s has a description, an input schema and an output schema',
    (_, tool, route) => {
      expect(tool.title).not.toBe('');
      expect(tool.description.startsWith(tool.title)).toBe(true);
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const field of tool.inputSchema.required) expect(tool.inputSchema.properties).toHaveProperty(field);
      expect(JSON.stringify([tool.inputSchema, tool.outputSchema])).not.toContain('$ref');
      const answers = Object.keys(route.responses)[0] !== '204';
      expect(tool.outputSchema !== undefined).toBe(answers);
      if (answers) expect(tool.outputSchema?.required).toContain('data');
    },
  );

  it('describe every argument, including nested ones', () => {
    const silent = tools.flatMap(({ definition }) => undescribed(definition.inputSchema, definition.name));
    expect(silent).toEqual([]);
  });

  it('do not mention HTTP, which their callers do not see', () => {
    for (const { definition } of tools) {
      const words = JSON.stringify([definition.description, definition.inputSchema]);
      expect(words).not.toMatch(/HTTP|\bETag|If-None-Match|\bheader|status code|\/api\//i);
      expect(words).not.toMatch(/\b(GET|POST|PUT|PATCH|QUERY)\b/);
      expect(definition.description).not.toMatch(/\b[2-5]\d\d\b/);
    }
  });

  it('take the path, the query and the body as one object', () => {
    const {
      definition: { inputSchema },
      split,
    } = named('create_folder');
    expect(Object.keys(inputSchema.properties)).toEqual(['id', 'name', 'parent']);
    expect(inputSchema.required).toEqual(['id', 'name']);
    expect(inputSchema.properties['id']).toMatchObject({ description: 'The id of the project.' });
    expect(split({ id: 'a', name: 'b' })).toEqual({ id: 'a', query: {}, body: { name: 'b' } });
    expect(Object.keys(named('list_project_versions').definition.inputSchema.properties)).toEqual([
      'id',
      'page',
      'sort.type',
      'sort.direction',
    ]);
    expect(named('get_file').split({ id: 'a', wait: 5 })).toEqual({ id: 'a', query: { wait: 5 }, body: {} });
  });

  it('pass unknown arguments on to a schema that refuses them', () => {
    expect(named('whoami').split({ id: 'a', odd: 1 }).query).toEqual({ id: 'a', odd: 1 });
    expect(named('get_file').split({ id: 'a', odd: 1 }).query).toEqual({ odd: 1 });
    expect(named('create_folder').split({ id: 'a', odd: 1 }).body).toEqual({ odd: 1 });
    expect(named('list_projects').split({ id: 'a' }).body).toEqual({ id: 'a' });
  });

  it('are documented with their scopes', () => {
    const documented = readFileSync(new URL('../../../docs/tools.md', import.meta.url), 'utf8');
    const rows = Array.from(documented.matchAll(/^\| `(\w+)` +\| (.*?) +\| (.*?) +\|$/gm), ([, ...cells]) => cells);
    const expected = tools.map(({ definition, route }) => [
      definition.name,
      route.metadata.scopes.map((scope) => `\`${scope}\``).join(' or ') || 'none',
      definition.title,
    ]);
    expect(rows).toEqual(expected);
  });

  it('have hints about their effects', () => {
    expect(hints('whoami')).toEqual(['readOnly', 'idempotent']);
    expect(hints('list_projects')).toEqual(['readOnly', 'idempotent']);
    expect(hints('create_folder')).toEqual([]);
    expect(hints('generate_file')).toEqual(['openWorld']);
    expect(hints('update_skill')).toEqual(['destructive', 'idempotent']);
    expect(hints('cancel_generation')).toEqual(['destructive']);
  });
});
