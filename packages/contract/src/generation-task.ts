import type { Family } from './models.ts';

/** What an engine is handed: everything else is in the row, which the worker asks the server for. */
export interface GenerationTask {
  fileId: string;
  family: Family;
  /** Rises with every hand-over: what an earlier holder reports no longer counts. */
  epoch: number;
}

/** One file is one workflow, however often it is started. */
export const workflowIdOf = (fileId: string): string => `gen:${fileId}`;

/** Each family has a workflow of its own: `gpt-image` runs as `gptImage`. */
export const workflowTypeOf = (family: Family): string =>
  family.replace(/-(.)/g, (_hyphen, letter: string) => letter.toUpperCase());

/** Workflows wait on one queue; each family's paid calls on a queue of its own; polls and bytes apart from both. */
export const WORKFLOW_QUEUE = 'review-generation';
export const submitQueueOf = (family: Family): string => `review-generate-${family}`;
export const POLL_QUEUE = 'review-poll';
export const MEDIA_QUEUE = 'review-media';
