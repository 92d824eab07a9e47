import type { EventType, ProjectEvent } from '@review/contract';
import type { QueryKey } from '@tanstack/react-query';

/** The first part of the key of every query about a project. */
export const ROOTS = [
  'access-links',
  'activity',
  'comments',
  'files',
  'folders',
  'members',
  'projects',
  'runs',
  'versions',
  'webhook-deliveries',
  'webhooks',
] as const;

type Touched = keyof typeof KEYS;

/** The keys of the queries that a change makes stale. */
const KEYS = {
  everything: () => ROOTS.map((root) => [root]),
  projects: () => [['projects']],
  members: ({ project }) => [
    ['members', project.id],
    ['projects', project.id],
  ],
  folders: ({ project }) => [['folders', project.id]],
  file: ({ subject }) => [['files', subject.id]],
  steps: ({ subject }) => [['files', subject.id, 'generation']],
  fileLists: ({ project }) => [
    ['files', 'of', project.id],
    ['files', 'all', project.id],
    ['files', 'ready', project.id],
    ['runs', project.id],
  ],
  trash: ({ project }) => [['files', 'trash', project.id]],
  version: ({ subject }) => [['versions', subject.id]],
  versionLists: ({ project }) => [
    ['versions', 'of', project.id],
    ['versions', 'to review'],
  ],
  versions: () => [['versions']],
  comments: ({ project, subject, data }) => {
    const file = 'file' in data ? data.file : null;
    return [
      ['comments', subject.id],
      ['comments', 'list', file === null ? { project: project.id } : { file: file.id }],
      ['comments', 'list', 'replies'],
      ...(file === null ? [] : [['comments', 'pins', file.id]]),
    ];
  },
  links: ({ project }) => [['access-links', project.id]],
  webhooks: ({ project, subject }) => [
    ['webhooks', 'of', project.id],
    ['webhooks', subject.id],
  ],
} satisfies Record<string, (event: ProjectEvent) => QueryKey[]>;

const FILE: Touched[] = ['file', 'fileLists'];

const TOUCHED: Record<EventType, readonly Touched[]> = {
  'project.created': ['projects'],
  'project.updated': ['projects'],
  'project.deleting': ['projects'],
  'project.restored': ['projects'],
  'member.added': ['members'],
  // The caller may be the member, and see more or less from now on.
  'member.changed': ['everything'],
  'member.removed': ['members'],
  'folder.created': ['folders'],
  'folder.updated': ['folders'],
  'folder.deleted': ['folders', 'fileLists'],
  'file.created': ['fileLists'],
  'file.updated': FILE,
  'file.tagged': FILE,
  'file.deleted': [...FILE, 'trash', 'versions'],
  'file.restored': [...FILE, 'trash', 'comments', 'versions'],
  'file.upload.completed': FILE,
  'file.upload.canceled': FILE,
  'file.generation.queued': FILE,
  'file.generation.started': FILE,
  // `patchProgress` writes the progress itself into the cached files.
  'file.generation.progressed': ['steps'],
  'file.generation.succeeded': FILE,
  'file.generation.failed': FILE,
  'file.generation.canceled': FILE,
  'file.media.ready': FILE,
  'file.media.failed': FILE,
  'version.created': ['versionLists'],
  'version.updated': ['version', 'versionLists'],
  'version.status.changed': ['version', 'versionLists'],
  'comment.created': ['comments'],
  'comment.updated': ['comments'],
  'comment.deleted': ['comments'],
  'comment.resolved': ['comments'],
  'comment.reopened': ['comments'],
  // The comment has an event of its own.
  'comment.mentioned': [],
  'reaction.added': ['comments'],
  'reaction.removed': ['comments'],
  'link.created': ['links'],
  'link.deleted': ['links'],
  'link.redeemed': ['links', 'members'],
  'webhook.created': ['webhooks'],
  'webhook.updated': ['webhooks'],
  'webhook.deleted': ['webhooks'],
  'webhook.disabled': ['webhooks'],
  'webhook.tested': [],
};

/** Returns the keys of the queries that an event makes stale. */
export const touchedBy = (event: ProjectEvent): QueryKey[] => [
  ...TOUCHED[event.type].flatMap((touched) => KEYS[touched](event)),
  // The activity does not list progress.
  ...(event.type === 'file.generation.progressed' ? [] : [['activity', event.project.id]]),
];
