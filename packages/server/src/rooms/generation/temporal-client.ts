import {
  type GenerationTask,
  MEDIA_TASK_QUEUE,
  MEDIA_WORKFLOW,
  mediaWorkflowIdOf,
  WEBHOOK_QUEUE,
  WEBHOOK_WORKFLOW,
  WORKFLOW_QUEUE,
  webhookWorkflowIdOf,
  workflowIdOf,
  workflowTypeOf,
} from '@review/contract';

export interface Workflow extends GenerationTask {
  workspaceId: string;
  outputModel: string;
}

export interface PendingStep {
  name: string;
  attempt: number;
  /** The worker of the last attempt. */
  worker: string | null;
}

/** The server's calls to Temporal. Each has a timeout of two seconds. */
export interface TemporalClient {
  /** Starts a workflow. Does nothing if the workflow of the file is running. */
  start(workflow: Workflow): Promise<void>;
  /** Starts the workflow that delivers to a webhook. Does nothing if it is running. */
  startWebhook(webhookId: string): Promise<void>;
  /** Starts the workflow that reads the media of a file. Does nothing if it is running. */
  startMedia(fileId: string): Promise<void>;
  isRunning(fileId: string): Promise<boolean>;
  /** Returns the steps of a running workflow that have not ended; null if the file has no running workflow. */
  findPendingSteps(fileId: string): Promise<PendingStep[] | null>;
  /** Ends a workflow without its further steps. Does nothing if it is not running. */
  terminate(fileId: string, reason: string): Promise<void>;
  cancel(fileId: string): Promise<void>;
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

const CALL_TIMEOUT_MS = 2000;

/** Loads the client library, which is large, and returns a client that connects on first use and reconnects. */
export async function openTemporal(environment: Record<string, string>): Promise<TemporalClient> {
  const [
    { Client, Connection, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError },
    { loadClientConnectConfig },
  ] = await Promise.all([import('@temporalio/client'), import('@temporalio/envconfig')]);
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: environment });
  const { address, apiKey, tls, metadata } = connectionOptions;
  const connection = Connection.lazy({
    ...(address !== undefined && { address }),
    ...(apiKey !== undefined && { apiKey }),
    ...(tls !== undefined && { tls }),
    ...(metadata !== undefined && { metadata }),
    // No retries: the dispatcher retries. The default back-off of the channel goes up to two minutes.
    interceptors: [],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1000 },
  });
  const { workflow } = new Client({ connection, ...(namespace !== undefined && { namespace }) });
  const inTime = <T>(call: () => Promise<T>) => connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);

  const ifItRuns = async (call: () => Promise<unknown>): Promise<void> => {
    await inTime(call).catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  };

  /** Returns the running workflow of a file; null if there is none. */
  const describe = async (fileId: string) => {
    try {
      const described = await inTime(() => workflow.getHandle(workflowIdOf(fileId)).describe());
      return described.status.name === 'RUNNING' ? described : null;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  };

  /** Starts a workflow about a row unless it is running. */
  const startOnce = async (type: string, workflowId: string, taskQueue: string, rowId: string) => {
    const policies = { workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowIdConflictPolicy: 'USE_EXISTING' } as const;
    await inTime(() => workflow.start(type, { workflowId, taskQueue, args: [rowId], ...policies }));
  };

  return {
    async start({ workspaceId, outputModel, ...task }) {
      const { fileId, family, epoch } = task;
      const starting = inTime(() =>
        workflow.start(workflowTypeOf(family), {
          workflowId: workflowIdOf(fileId),
          taskQueue: WORKFLOW_QUEUE,
          args: [task],
          // A generation with a later epoch is open, even if its earlier workflow has completed.
          workflowIdReusePolicy: epoch === 1 ? 'ALLOW_DUPLICATE_FAILED_ONLY' : 'ALLOW_DUPLICATE',
          workflowIdConflictPolicy: 'USE_EXISTING',
          memo: { file: fileId, workspace: workspaceId, model: outputModel },
          priority: { fairnessKey: workspaceId },
        }),
      );
      await starting.catch((error: unknown) => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      });
    },

    startWebhook: (webhookId) => startOnce(WEBHOOK_WORKFLOW, webhookWorkflowIdOf(webhookId), WEBHOOK_QUEUE, webhookId),
    startMedia: (fileId) => startOnce(MEDIA_WORKFLOW, mediaWorkflowIdOf(fileId), MEDIA_TASK_QUEUE, fileId),

    isRunning: async (fileId) => (await describe(fileId)) !== null,

    async findPendingSteps(fileId) {
      const described = await describe(fileId);
      return (
        described &&
        (described.raw.pendingActivities ?? []).map(({ activityType, attempt, lastWorkerIdentity }) => ({
          name: activityType?.name ?? '',
          attempt: attempt ?? 0,
          worker: lastWorkerIdentity || null,
        }))
      );
    },

    terminate: (fileId, reason) => ifItRuns(() => workflow.getHandle(workflowIdOf(fileId)).terminate(reason)),

    cancel: (fileId) => ifItRuns(() => workflow.getHandle(workflowIdOf(fileId)).cancel()),

    isReachable: () =>
      inTime(() => connection.workflowService.getSystemInfo({})).then(
        () => true,
        () => false,
      ),

    close: () => connection.close(),
  };
}
