import { EventType } from '@review/contract';
import type { IconName } from '../ui/icon.tsx';
import type { Group } from './groups.ts';

interface ShownEvent {
  group: Group;
  icon: IconName;
  /** Follows the name of the actor. */
  words: string;
}

const shown = (group: Group, icon: IconName, words: string): ShownEvent => ({ group, icon, words });

/** How the activity page shows each type of event; null for one that it leaves out. */
const SHOWN: Record<EventType, ShownEvent | null> = {
  'project.created': shown('project', 'folder', 'created the project'),
  'project.updated': shown('project', 'pencil', 'changed the project'),
  'project.deleting': shown('project', 'trash', 'scheduled the project for deletion'),
  'project.restored': shown('project', 'repeat', 'undid the deletion of the project'),
  'member.added': shown('people', 'people', 'added a member'),
  'member.changed': shown('people', 'people', 'changed the role of a member'),
  'member.removed': shown('people', 'people', 'removed a member'),
  'folder.created': shown('folders', 'folder', 'created a folder'),
  'folder.updated': shown('folders', 'folder', 'renamed or moved a folder'),
  'folder.deleted': shown('folders', 'trash', 'deleted a folder'),
  'file.created': shown('files', 'document', 'added a file'),
  'file.updated': shown('files', 'pencil', 'changed a file'),
  'file.tagged': shown('files', 'check', 'set the review status of a file'),
  'file.deleted': shown('files', 'trash', 'deleted a file'),
  'file.restored': shown('files', 'repeat', 'restored a file'),
  'file.upload.completed': shown('files', 'upload', 'uploaded a file'),
  'file.upload.canceled': shown('files', 'cross', 'canceled an upload'),
  'file.generation.queued': shown('generations', 'spark', 'requested a generation'),
  'file.generation.started': shown('generations', 'play', 'started a generation'),
  'file.generation.progressed': null,
  'file.generation.succeeded': shown('generations', 'check', 'finished a generation'),
  'file.generation.failed': shown('generations', 'warning', 'could not finish a generation'),
  'file.generation.canceled': shown('generations', 'stop', 'canceled a generation'),
  // They follow every upload and generation.
  'file.media.ready': null,
  'file.media.failed': null,
  'version.created': shown('versions', 'clock', 'created a version'),
  'version.updated': shown('versions', 'pencil', 'changed a version'),
  'version.status.changed': shown('versions', 'check', 'set the status of a version'),
  'comment.created': shown('comments', 'comment', 'commented'),
  'comment.updated': shown('comments', 'pencil', 'edited a comment'),
  'comment.deleted': shown('comments', 'trash', 'deleted a comment'),
  'comment.resolved': shown('comments', 'check', 'resolved a comment'),
  'comment.reopened': shown('comments', 'repeat', 'opened a comment again'),
  'comment.mentioned': shown('comments', 'people', 'mentioned'),
  'reaction.added': shown('comments', 'smile', 'reacted to a comment'),
  'reaction.removed': shown('comments', 'smile', 'removed a reaction'),
  'link.created': shown('people', 'link', 'created an access link'),
  'link.deleted': shown('people', 'link', 'revoked an access link'),
  'link.redeemed': shown('people', 'link', 'joined with an access link'),
  'webhook.created': shown('webhooks', 'pulse', 'created a webhook'),
  'webhook.updated': shown('webhooks', 'pulse', 'changed a webhook'),
  'webhook.deleted': shown('webhooks', 'trash', 'deleted a webhook'),
  'webhook.disabled': shown('webhooks', 'warning', 'switched off a webhook'),
  'webhook.tested': shown('webhooks', 'pulse', 'tested a webhook'),
};

export const shownEvent = (type: EventType): ShownEvent | null => SHOWN[type];

/** The types of events to list, of one group or of all. */
export const typesOf = (group: Group | undefined): EventType[] =>
  EventType.options.filter((type) => {
    const found = SHOWN[type];
    return found !== null && (group === undefined || found.group === group);
  });
