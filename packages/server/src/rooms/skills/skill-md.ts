import { stringify } from 'yaml';
import { parseJson } from '../../db/json.ts';
import type { StoredSkill } from './queries.ts';

const MAX_NAME_LENGTH = 64;

/** Returns a skill as `SKILL.md` in the Agent Skills format: https://agentskills.io/specification */
export function skillMd(skill: StoredSkill, content: string): string {
  const tools = parseJson(skill.allowed_tools) ?? [];
  const fields = {
    name: slug(skill),
    description: skill.description,
    ...(skill.license !== null && { license: skill.license }),
    ...(tools.length > 0 && { 'allowed-tools': toolList(tools) }),
    metadata: { ...parseJson(skill.metadata), 'display-name': skill.name },
  };
  // Many parsers support YAML 1.1 only, in which an unquoted `yes` is a boolean.
  const frontMatter = stringify(fields, { compat: 'yaml-1.1', lineWidth: 0 });
  return `---\n${frontMatter}---\n\n${content}`;
}

/** Returns lower-case letters and digits with single hyphens, as the format requires; the id if the name has none. */
function slug({ id, name }: StoredSkill): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  if (words === null) return `skill-${id.toLowerCase()}`;
  return words.join('-').slice(0, MAX_NAME_LENGTH).replace(/-$/, '');
}

/** Returns the tools separated by spaces, which all parsers support; as a list if a tool contains a space. */
const toolList = (tools: string[]): string | string[] =>
  tools.every((tool) => /^\S+$/.test(tool)) ? tools.join(' ') : tools;
