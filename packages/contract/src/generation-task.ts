import type { Family } from './models.ts';

/** What an engine passes to a worker. The worker reads everything else from the server. */
export interface GenerationTask {
  fileId: string;
  family: Family;
  /** The fencing token: it rises with every claim, and the server ignores reports with an older one. */
  epoch: number;
  /** The trace to continue (W3C Trace Context). Workflows and servers of earlier releases have none. */
  traceparent?: string;
}

/** One workflow id per file, so that repeated starts run one workflow. */
export const workflowIdOf = (fileId: string): string => `gen:${fileId}`;

/** Each family has its own workflow type: `gpt-image` runs as `gptImage`. */
export const workflowTypeOf = (family: Family): string =>
  family.replace(/-(.)/g, (_hyphen, letter: string) => letter.toUpperCase());

/** The task queues: one for workflows, one per family for submits, one for polls, and one for downloads and uploads. */
export const WORKFLOW_QUEUE = 'review-generation';
export const submitQueueOf = (family: Family): string => `review-generate-${family}`;
export const POLL_QUEUE = 'review-poll';
export const MEDIA_QUEUE = 'review-media';

/** The workflow type, the workflow id and the task queue of webhook deliveries. A webhook has at most one running workflow. */
export const WEBHOOK_WORKFLOW = 'deliverWebhook';
export const webhookWorkflowIdOf = (webhookId: string): string => `hook:${webhookId}`;
export const WEBHOOK_QUEUE = 'review-webhooks';

/** The same for reading media. */
export const MEDIA_WORKFLOW = 'readMedia';
export const mediaWorkflowIdOf = (fileId: string): string => `media:${fileId}`;
export const MEDIA_TASK_QUEUE = 'review-media-tasks';
