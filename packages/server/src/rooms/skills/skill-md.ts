import { stringify } from 'yaml';
import type { StoredSkill } from './queries.ts';

const LONGEST_NAME = 64;

/** A skill as the `SKILL.md` of the Agent Skills format: https://agentskills.io/specification */
export function skillMd(skill: StoredSkill, content: string): string {
  const fields = {
    name: slug(skill),
    description: skill.description,
    ...(skill.license !== null && { license: skill.license }),
    ...(skill.allowedTools?.length && { 'allowed-tools': toolList(skill.allowedTools) }),
    metadata: { ...skill.metadata, 'display-name': skill.name },
  };
  // Many readers still speak YAML 1.1, to which a bare `yes` is not a text.
  const frontMatter = stringify(fields, { compat: 'yaml-1.1', lineWidth: 0 });
  return `---\n${frontMatter}---\n\n${content}`;
}

/** The format wants lower-case letters, digits and single hyphens between them; a name without any becomes the id. */
function slug({ id, name }: StoredSkill): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  if (words === null) return `skill-${id.toLowerCase()}`;
  return words.join('-').slice(0, LONGEST_NAME).replace(/-$/, '');
}

/** Every reader knows the tools as words with spaces between them; a tool that has a space itself needs a list. */
const toolList = (tools: string[]): string | string[] =>
  tools.every((tool) => /^\S+$/.test(tool)) ? tools.join(' ') : tools;
