import { contract, type Room, type Subject } from '@review/contract';
import fc from 'fast-check';
import { type JsonSchema, samplesOf } from '../../packages/contract/src/test/json-samples.ts';
import { type Operation, schemas } from './operations.ts';
import type { Records } from './records.ts';
import { fits } from './schema.ts';

/** A request as it is sent: what it means is up to the server. */
export interface FuzzedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** What the document says about it. */
  expected: 'accepted' | 'refused' | 'either';
}

const rooms: Record<string, Room> = contract;
const subjectOf = ({ name }: Operation): Subject | null => {
  const [room = '', verb = ''] = name.split('.');
  return rooms[room]?.[verb]?.metadata.subject ?? null;
};

/** Operations that need a file in another state than the others. */
const SUBJECTS: Record<string, keyof Records> = { 'files.getGeneration': 'generation', 'files.cancel': 'generation' };

const subjectId = (operation: Operation, records: Records): string => {
  const subject = SUBJECTS[operation.name] ?? subjectOf(operation);
  return subject === null ? '' : records[subject];
};

const UNKNOWN_UUID = '01890000-0000-7000-8000-000000000000';
/** An id of 20 characters of the alphabet, which no record has. */
const UNKNOWN = '00000000000000000000';

/** Resolves references to the document's schemas, so that ids are often those of records, of the right or another kind. */
function resolverFor(records: Records): (reference: string) => JsonSchema {
  const uuids = Object.values(records).filter((id) => id.includes('-'));
  const known: Record<string, JsonSchema> = {
    Emoji: { enum: ['👍', '🎉', '👩🏽‍🚀'] },
    // Many operations refer to a comment or a person.
    Uuid: { enum: [...uuids, UNKNOWN_UUID, ...Array.from(uuids, () => [records.comment, records.stranger]).flat()] },
    FileId: { enum: [records.file, records['stored-file'], `FX${UNKNOWN}`] },
    FolderId: { enum: [records.folder, `DX${UNKNOWN}`] },
    CommentAttachmentId: { enum: [records['comment-attachment'], `CA${UNKNOWN}`] },
    GenerationAttachmentId: { enum: [records['generation-attachment'], `GA${UNKNOWN}`] },
    ReferenceId: { enum: [records.file, records['generation-attachment'], `GA${UNKNOWN}`] },
  };
  return (reference) => {
    const name = reference.replace('#/components/schemas/', '');
    const schema = known[name] ?? schemas[name];
    if (schema === undefined) throw new Error(`the document has no schema ${name}`);
    return schema;
  };
}

/** Fields that exclude each other, which OpenAPI cannot express for a query. */
const EXCLUSIVE = [
  ['next', 'prev'],
  ['folder', 'folder.id'],
];
const isExclusive = (query: object) =>
  EXCLUSIVE.every((names) => names.filter((name) => Object.hasOwn(query, name)).length < 2);

/** A made-up cursor is refused before the list is read, so that most requests go without. */
const mostlyWithoutCursor = (samples: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(samples, fc.nat(9)).map(([sample, chance]) => {
    if (chance === 0 || typeof sample !== 'object' || sample === null || Array.isArray(sample)) return sample;
    return Object.fromEntries(Object.entries(sample).filter(([name]) => name !== 'next' && name !== 'prev'));
  });

type Query = [name: string, value: string][];

function queriesOf({ query }: Operation, resolve: (reference: string) => JsonSchema): fc.Arbitrary<Query> {
  // A wait ends at once for a file that is finished; a second is long enough for the others.
  const short = (schema: JsonSchema): JsonSchema => ({ ...schema, maximum: 1 });
  const properties = Object.fromEntries(
    Object.entries(query.properties ?? {}).map(([name, schema]) => [name, name === 'wait' ? short(schema) : schema]),
  );
  return mostlyWithoutCursor(samplesOf({ ...query, properties }, resolve))
    .filter((sample): sample is object => typeof sample === 'object' && sample !== null && isExclusive(sample))
    .map((sample) => Object.entries(sample).map(([name, value]): [string, string] => [name, String(value)]));
}

const pathWith = ({ path }: Operation, id: string, query: Query) =>
  path.replace('{id}', id) + (query.length === 0 ? '' : `?${new URLSearchParams(query)}`);

const JSON_HEADERS = { 'content-type': 'application/json' };

/** Requests that fit the document, on an existing record of the right kind. */
export function validRequests(operation: Operation, records: Records): fc.Arbitrary<FuzzedRequest> {
  const { method, body } = operation;
  const resolve = resolverFor(records);
  const bodies =
    body === null
      ? fc.constant(undefined)
      : mostlyWithoutCursor(samplesOf(body, resolve)).filter((it) => fits(body, it));
  return fc.record({ query: queriesOf(operation, resolve), sent: bodies }).map(({ query, sent }) => ({
    method,
    path: pathWith(operation, subjectId(operation, records), query),
    headers: sent === undefined ? {} : JSON_HEADERS,
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    expected: 'accepted',
  }));
}

/** Values that parsers and databases are known to stumble over. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  '',
  '\0',
  'a\0b',
  '\ud800',
  'a\udc00b',
  '\u202eabc',
  'раypal',
  '﷽'.repeat(2000),
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  {},
  [],
  [null],
  { id: null },
  { id: { id: 'a' } },
  "'; drop table projects; --",
  '../../../../etc/passwd',
  '2026-02-30 00:00:00.000000',
  'x'.repeat(100_000),
];
const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.jsonValue({ maxDepth: 2 }));

/** Replaces or drops one value somewhere in a JSON value, or adds one. */
function mutated(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return hostile;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const changed = items.map((item, index) => mutated(item).map((other) => items.with(index, other)));
    return fc.oneof(hostile, fc.constant([...items, ...items]), ...changed);
  }
  const fields: [string, unknown][] = Object.entries(value);
  const changed = fields.map(([name, field]) => mutated(field).map((other) => ({ ...value, [name]: other })));
  const dropped = fields.map(([name]) => fc.constant(Object.fromEntries(fields.filter(([other]) => other !== name))));
  const added = fc
    .constantFrom('id', 'constructor', 'prototype', 'unknown', 'createdAt', '\0')
    .chain((name) => hostile.map((field) => ({ ...value, [name]: field })));
  return fc.oneof(hostile, added, ...changed, ...dropped);
}

const deep = (open: string, close: string) => open.repeat(10_000) + close.repeat(10_000);
/** Bodies that are no JSON, or JSON as no serializer writes it. */
const RAW: readonly (string | Buffer)[] = [
  '',
  ' ',
  '{',
  '{}{}',
  '{"name":"a","name":"b"}',
  '{"__proto__":{"name":"a"},"name":"a"}',
  '{"name":"\ud800"}',
  '[1,2',
  'nul',
  'NaN',
  '"\\ud800"',
  `${'1'.repeat(400)}`,
  deep('[', ']'),
  deep('{"a":', '}'),
  '\ufeff{}',
  Buffer.from([0xff, 0xfe, 0x00]),
  Buffer.from('{"name":"\xff"}', 'latin1'),
  Buffer.alloc(1000),
];
const WRONG_HEADERS: readonly Record<string, string>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/xml' },
  { 'content-type': 'multipart/form-data; boundary=a' },
  { 'content-type': 'application/json; charset=utf-7' },
  { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  { 'content-type': 'application/json', 'content-encoding': 'zip' },
  { 'content-type': 'rubbish' },
];
const ODD_HEADERS: readonly Record<string, string>[] = [
  { 'idempotency-key': 'x'.repeat(256) },
  { 'idempotency-key': '\xe9' },
  { 'if-match': 'rubbish' },
  { 'if-match': '"a", W/"b", *' },
  { 'if-none-match': '"' },
  { 'last-event-id': 'rubbish' },
  { accept: 'image/png' },
  { 'accept-encoding': 'gzip;q=rubbish, br;q=9' },
  { authorization: 'Bearer' },
  { authorization: 'Basic YTpi' },
  { authorization: `Bearer ${'x'.repeat(4000)}` },
  { range: 'bytes=-0-' },
  { origin: 'null' },
  { 'x-forwarded-for': "1.2.3.4, '; drop table" },
  { 'x-request-id': 'x'.repeat(500) },
];

/** Requests that are wrong in one place. */
export function invalidRequests(operation: Operation, records: Records): fc.Arbitrary<FuzzedRequest> {
  const { body } = operation;
  const ids = [...Object.values(records), UNKNOWN_UUID, `FX${UNKNOWN}`, `SK${UNKNOWN}`];
  const oddIds = ['%00', '%ff', '-1', 'null', '{id}', 'FX', 'x'.repeat(5000), 'é', '%F0%9F%92%A1'];
  return validRequests(operation, records).chain((request) => {
    const withHeaders = (headers: Record<string, string>): FuzzedRequest => ({
      ...request,
      headers: { ...request.headers, ...headers },
      expected: 'either',
    });
    const withQuery = (more: Query): FuzzedRequest => {
      const separator = request.path.includes('?') ? '&' : '?';
      return { ...request, path: `${request.path}${separator}${new URLSearchParams(more)}`, expected: 'either' };
    };
    const ways: fc.Arbitrary<FuzzedRequest>[] = [
      fc.constantFrom(...ODD_HEADERS).map(withHeaders),
      fc
        .tuple(fc.constantFrom(...Object.keys(operation.query.properties ?? {}), 'unknown', '__proto__'), hostile)
        .map(([name, value]) =>
          withQuery([[name, typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)]]),
        ),
    ];
    if (operation.path.includes('{id}')) {
      const paths = [...ids, ...oddIds].map((id) => pathWith(operation, id, []));
      ways.push(fc.constantFrom(...paths).map((path) => ({ ...request, path, expected: 'either' })));
    }
    if (body !== null && request.body !== undefined) {
      const sent: unknown = JSON.parse(String(request.body));
      const fuzzed = mutated(sent).map(
        (value): FuzzedRequest => ({
          ...request,
          body: JSON.stringify(value),
          expected: fits(body, JSON.parse(JSON.stringify(value))) ? 'accepted' : 'refused',
        }),
      );
      ways.push(
        fuzzed,
        fuzzed,
        fuzzed,
        fc.constantFrom(...RAW).map((raw) => ({ ...request, body: raw, expected: 'either' })),
        fc.constantFrom(...WRONG_HEADERS).map(withHeaders),
      );
    }
    return fc.oneof(...ways);
  });
}
