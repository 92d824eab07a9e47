import { z } from 'zod';
import { ProjectRole, Scope } from './access.ts';
import { AccessLink } from './access-links.ts';
import { CommentAttachment, CommentRecord } from './comments.ts';
import { EMOJI_PATTERN } from './emoji-pattern.ts';
import { FileRecord } from './files.ts';
import { Folder } from './folders.ts';
import { Generation } from './generation.ts';
import * as ids from './ids.ts';
import { Person, ProjectMember, User } from './members.ts';
import { ModelRecord, OutputType, VideoSettings } from './models.ts';
import { FieldError, Problem } from './problem.ts';
import { Project } from './projects.ts';
import { Emoji } from './reactions.ts';
import { ListedSkill, SkillDetails, SkillVersion } from './skills.ts';
import { Timestamp } from './time.ts';
import { Download, NewUpload, UploadedParts, UploadPart } from './upload.ts';
import { ReviewStatus, Version } from './versions.ts';

type Schema = z.core.JSONSchema.BaseSchema;
export type Io = 'input' | 'output';

/** The named schemas of the document. Every other schema is inlined. */
const NAMED: Record<Io, Record<string, z.ZodType>> = {
  output: {
    Uuid: ids.Uuid,
    FileId: ids.FileId,
    FolderId: ids.FolderId,
    GenerationAttachmentId: ids.GenerationAttachmentId,
    CommentAttachmentId: ids.CommentAttachmentId,
    SkillId: ids.SkillId,
    SkillVersionId: ids.SkillVersionId,
    ReferenceId: ids.ReferenceId,
    Timestamp,
    Scope,
    ProjectRole,
    ReviewStatus,
    OutputType,
    Project,
    Folder,
    User,
    Person,
    ProjectMember,
    Model: ModelRecord,
    VideoSettings,
    Generation,
    File: FileRecord,
    Version,
    Comment: CommentRecord,
    CommentAttachment,
    AccessLink,
    ListedSkill,
    Skill: SkillDetails,
    SkillVersion,
    UploadPart,
    Download,
    FieldError,
    Problem,
  },
  input: { NewUpload, UploadedParts, Emoji },
};
const NAMES = new Map<z.core.$ZodType, string>(
  Object.values(NAMED).flatMap((named) => Object.entries(named).map(([name, schema]) => [schema, name] as const)),
);

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Converts a schema to JSON Schema, for requests (`input`) or responses (`output`). */
export function toJsonSchema(schema: z.ZodType, io: Io, own?: string): Schema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => {
      const name = NAMES.get(zodSchema);
      if (name !== undefined && name !== own) {
        for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
        Object.assign(jsonSchema, schemaRef(name));
        return;
      }
      if (zodSchema === Emoji) jsonSchema.pattern = EMOJI_PATTERN;
      normalizeSchema(jsonSchema, io);
    },
  });
  return mergeNullTypes(json);
}

/** Rewrites `anyOf` with null as a type list, because generators create a class for each `anyOf`. */
function mergeNullTypes<Node>(node: Node): Node {
  if (Array.isArray(node)) for (const item of node) mergeNullTypes(item);
  else if (typeof node === 'object' && node !== null) {
    for (const value of Object.values(node)) mergeNullTypes(value);
    const [shape, nothing, ...more] = 'anyOf' in node && Array.isArray(node.anyOf) ? node.anyOf : [];
    if (more.length === 0 && nothing?.type === 'null' && typeof shape?.type === 'string' && !shape.enum) {
      Reflect.deleteProperty(node, 'anyOf');
      Object.assign(node, shape, { type: [shape.type, 'null'] });
    }
  }
  return node;
}

export function normalizeSchema(schema: Schema, io: Io): void {
  // Generators fail on `const` and on object defaults, which the defaults of the fields already express.
  if (typeof schema.const === 'string') {
    schema.enum = [schema.const];
    delete schema.const;
  } else if (typeof schema.const === 'boolean' && io === 'output') delete schema.const;
  if (typeof schema.default === 'object') delete schema.default;
  // zod adds these bounds to every integer.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // Responses may gain fields; requests with unknown fields are refused.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}

const components = (io: Io) =>
  Object.entries(NAMED[io]).map(([name, schema]) => [name, toJsonSchema(schema, io, name)] as const);

export const namedSchemas = (): Record<string, Schema> =>
  Object.fromEntries([...components('output'), ...components('input')]);
