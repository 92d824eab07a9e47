import type {
  Engine,
  EventType,
  Family,
  FamilyState,
  FileStatus,
  Filmstrip,
  GenerationError,
  GenerationStatus,
  GenerationStep,
  LinkRole,
  MediaError,
  MediaFacts,
  MediaKind,
  MediaStatus,
  OutputType,
  ProjectRole,
  Provider,
  ProviderRefusal,
  RenditionKind,
  ReviewStatus,
  Scope,
  Stage,
  VideoSettings,
  Webhook,
  WebhookDeliveryStatus,
  WebhookDisabledReason,
} from '@review/contract';
import type { Generated, GeneratedAlways, Kysely, Transaction } from 'kysely';
import type { JsonText } from './json.ts';

/** All tables. Times are text in the contract's `Timestamp` format, ids are text; both databases compare them by bytes. */
export interface Schema {
  workspaces: { id: string; name: string; avatar_url: string | null; created_at: string };
  users: { id: string; email: string; name: string; avatar_url: string | null; created_at: string };
  workspace_members: {
    id: string;
    workspace_id: string;
    user_id: string;
    display_name: string | null;
    avatar_url: string | null;
    created_at: string;
  };
  api_keys: {
    id: string;
    workspace_id: string;
    user_id: string;
    hash: string;
    /** The last characters of the key, to recognise it by. */
    hint: string;
    scopes: string;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
    revoked_at: string | null;
  };
  /** Links subjects of an OAuth issuer to accounts. */
  oauth_subjects: { issuer: string; subject: string; user_id: string; created_at: string };
  projects: {
    id: string;
    workspace_id: string;
    name: string;
    description: string | null;
    deadline: string | null;
    /** Folded by the server, so that sorting and search are the same on both databases. */
    folded_name: string;
    folded_text: string;
    created_at: string;
    updated_at: string;
    deletes_at: string | null;
  };
  project_members: { id: string; project_id: string; user_id: string; role: ProjectRole; created_at: string };
  /** When a lead last added, changed or removed a person. Older access links do not apply to that person. */
  member_decisions: { project_id: string; user_id: string; decided_at: string };
  folders: { id: string; project_id: string; parent_id: string | null; name: string; created_at: string };
  /** The upload of a file (FX), a comment attachment (CA) or a generation attachment (GA). */
  uploads: {
    id: string;
    project_id: string;
    started_by: string;
    name: string;
    declared_type: string | null;
    size: number;
    part_count: number;
    storage_key: string;
    /** The storage's id of the upload; null until it has started there. */
    storage_upload: string | null;
    /** A digest of the parts of the first complete call, `several` if later calls differed; null before the first. */
    completing_with: string | null;
    /** A digest of the parts that the upload was completed with; null until then. */
    completed_with: string | null;
    mime_type: string | null;
    /** The comment of a comment attachment, and the attachment's position in it. */
    comment_id: string | null;
    comment_position: number | null;
    created_at: string;
    expires_at: string;
  };
  files: {
    id: string;
    project_id: string;
    folder_id: string | null;
    name: string;
    folded_text: string;
    folded_name: GeneratedAlways<string>;
    description: string | null;
    mode: 'GENERATED' | 'UPLOADED';
    status: FileStatus;
    tag: ReviewStatus;
    /** Null for plain uploads. */
    output_type: OutputType | null;
    mime_type: string | null;
    size: number | null;
    sha256: string | null;
    storage_key: string | null;
    allow_restricted: number;
    created_by: string;
    created_at: string;
    updated_at: string;
    /** Null unless it is in the trash. Reads that show files start with `liveFiles`. */
    trashed_at: string | null;
  };
  /** The generation of a file. The row is the source of truth for both engines. */
  generations: {
    file_id: string;
    workspace_id: string;
    family: Family;
    output_type: OutputType;
    output_model: string;
    prompt: string;
    /** The video settings in effect. */
    configs: JsonText<VideoSettings> | null;
    status: GenerationStatus;
    progress: number;
    /** `live` if a worker had a key of the provider when it was queued. The sandbox must not run it then. */
    promised: Provider;
    /** The provider in use: chosen when it is claimed, fixed once it runs. */
    provider: Provider | null;
    provider_job_id: string | null;
    /** Reserved submits and provider references by stage. */
    stages: JsonText<Record<string, StoredStage>>;
    warnings: JsonText<string[]>;
    error: JsonText<GenerationError> | null;
    /** Set once an engine has claimed it; it occupies a slot from then on. */
    engine: Engine | null;
    epoch: number;
    lease_owner: string | null;
    lease_until: string | null;
    /** The stored result before it becomes the file's content. */
    result: JsonText<StoredResult> | null;
    queued_at: string;
    started_at: string | null;
    /** The queue deadline; once it runs, the run deadline. */
    deadline_at: string | null;
    finished_at: string | null;
    /** When the last event about its progress was emitted. */
    progressed_at: string | null;
    /** The folded prompt. */
    folded_text: Generated<string>;
    /** The trace of the request that ordered it (W3C Trace Context). */
    traceparent: string | null;
  };
  /** What is known about the content of a file, and the task that reads it. The row is the source of truth for both engines. */
  media: {
    file_id: string;
    project_id: string;
    kind: MediaKind;
    status: MediaStatus;
    error: JsonText<MediaError> | null;
    facts: JsonText<MediaFacts> | null;
    /** Facts that lists filter by; the short side is the smaller of width and height. */
    duration_ms: number | null;
    short_side: number | null;
    thumbnail_key: string | null;
    /** The pages of which pictures were requested. */
    pages: JsonText<number[]> | null;
    /** Rises with every rebuild. At its end, renditions of earlier builds are deleted. */
    build: number;
    /** Of this build. */
    attempts: number;
    /** The fencing token of the lease. */
    epoch: number;
    /** When a worker may claim it: the end of the lease while one holds it; null unless it is pending. */
    due_at: string | null;
    created_at: string;
  };
  renditions: {
    file_id: string;
    kind: RenditionKind;
    /** The height of a proxy, the number of a page, 0 for kinds of which a file has one. */
    variant: number;
    build: number;
    storage_key: string;
    mime_type: string;
    width: number | null;
    height: number | null;
    size: number;
    filmstrip: JsonText<Filmstrip> | null;
  };
  generation_attachments: { file_id: string; attachment_id: string; position: number };
  generation_steps: {
    file_id: string;
    position: number;
    name: string;
    attempt: number;
    outcome: GenerationStep['outcome'];
    message: string | null;
    started_at: string;
    finished_at: string | null;
    /** The worker's id of the record, unique per file. */
    record_id: string | null;
  };
  /** One row, locked while slots are assigned, so that the caps hold across processes. */
  generation_gate: { id: number };
  versions: {
    id: string;
    project_id: string;
    name: string;
    folded_name: string;
    description: string | null;
    status: ReviewStatus;
    allow_restricted: number;
    created_at: string;
    updated_at: string;
  };
  version_files: { version_id: string; file_id: string; position: number };
  comments: {
    id: string;
    project_id: string;
    file_id: string | null;
    parent_id: string | null;
    author_id: string;
    content: string | null;
    anchor: number | null;
    duration: number | null;
    annotation: JsonText<unknown> | null;
    /** The folded content. */
    folded_text: Generated<string>;
    resolved_at: string | null;
    deleted_at: string | null;
    created_at: string;
    updated_at: string;
  };
  reactions: { comment_id: string; user_id: string; type: string; created_at: string };
  access_links: {
    id: string;
    project_id: string;
    role: LinkRole;
    description: string | null;
    key_hash: string;
    sealed_key: string;
    created_at: string;
    expires_at: string | null;
  };
  skills: {
    id: string;
    workspace_id: string;
    name: string;
    description: string;
    metadata: JsonText<Record<string, string>> | null;
    allowed_tools: JsonText<string[]> | null;
    license: string | null;
    default_version_id: string | null;
    created_at: string;
    updated_at: string;
  };
  skill_versions: {
    id: string;
    skill_id: string;
    version: number;
    content: string;
    note: string | null;
    created_at: string;
  };
  /** An outbox of blobs without a row, which the sweep deletes from the storage. */
  pending_blob_deletions: { storage_key: string; storage_upload: string | null; scheduled_at: string };
  /**
   * The last event of each project. On Postgres, a transaction locks the row as its last lock, so that events are numbered in
   * the order of commits. On SQLite it is a view.
   */
  event_counters: { project_id: string; last_sequence: number };
  /** The outbox of changes, written in their transactions and swept after the retention time. */
  events: {
    project_id: string;
    sequence: number;
    type: EventType;
    subject_id: string;
    /** The file, version or folder that a restricted reviewer must be able to see; null for events that any member may see. */
    guard_id: string | null;
    /** Whether restricted reviewers could see a file until it was deleted; null for other events. */
    was_open: number | null;
    actor_id: string | null;
    at: string;
    data: JsonText<Record<string, unknown>>;
  };
  webhooks: {
    id: string;
    project_id: string;
    url: string;
    /** Null for all types. */
    types: JsonText<EventType[]> | null;
    description: string | null;
    /** The scopes of the credential that last set the URL or the types: they limit the types of events. */
    scopes: JsonText<Scope[]>;
    active: number;
    disabled_reason: WebhookDisabledReason | null;
    sealed_secret: string;
    sealed_previous_secret: string | null;
    previous_secret_until: string | null;
    /** The last event of the project that deliveries were created for. */
    last_sequence: number;
    /** The fencing token of the lease. */
    epoch: number;
    lease_until: string | null;
    /** The next attempt of any delivery, as the last holder of the lease has left it. */
    next_attempt_at: string | null;
    failing_since: string | null;
    last_failure: JsonText<NonNullable<Webhook['lastFailure']>> | null;
    created_at: string;
  };
  webhook_deliveries: {
    id: string;
    webhook_id: string;
    project_id: string;
    sequence: number;
    subject_id: string;
    status: WebhookDeliveryStatus;
    attempts: number;
    /** Null unless it is pending, and while it waits for an earlier delivery of its subject. */
    next_attempt_at: string | null;
    attempted_at: string | null;
    response_status: number | null;
    response_excerpt: string | null;
    error: string | null;
    created_at: string;
  };
  idempotency_keys: {
    scope: string;
    fingerprint: string;
    /** A fencing token: an attempt whose claim was taken over cannot complete the key. */
    claim: string;
    claimed_at: string;
    response: string | null;
  };
  /** Owned by rate-limiter-flexible; used on Postgres only. */
  rate_limits: { key: string; points: Generated<number>; expire: number | null };
  workers: {
    name: string;
    version: string | null;
    /** The state of each family on the worker. */
    families: JsonText<FamilyState[]>;
    /** The last refusal of each provider. */
    refusals: JsonText<ProviderRefusal[]>;
    started_at: string;
    /** The time of its last heartbeat, by the clock of leases. */
    seen_at: string;
    /** A draining worker gets no new work. Null again when it is restarted. */
    draining_since: string | null;
  };
  /** Families whose queued generations are not started. */
  paused_families: { family: Family; reason: string | null; paused_at: string };
  /** Administrative acts: of a person by the API, or of an operator by a command. Rows are never updated. */
  audit_log: {
    id: string;
    at: string;
    act: string;
    /** Null for commands. */
    actor_id: string | null;
    /** The user and host of a command; null for the API. */
    operator: string | null;
    workspace_id: string | null;
    project_id: string | null;
    subject_id: string | null;
    data: JsonText<Record<string, unknown>>;
  };
  /** One row: the oldest migration whose servers work with this schema. */
  schema_compatibility: { oldest_compatible: string };
}

export interface StoredResult {
  storageKey: string;
  size: number;
  mimeType: string;
  sha256: string;
}

/** A stage with the idempotency token of its last reserved submit. */
export type StoredStage = Stage & { token?: string };

export type Database = Kysely<Schema>;
export type Writer = Transaction<Schema>;
