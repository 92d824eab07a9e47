import { type GenerationTask, WORKFLOW_QUEUE, workflowIdOf, workflowTypeOf } from '@review/contract';

export interface Workflow extends GenerationTask {
  workspaceId: string;
  outputModel: string;
}

/** What the server asks of Temporal: nothing of it waits longer than the deadline. */
export interface TemporalClient {
  /** Starts a workflow, or leaves the one that runs for this file already. */
  start(workflow: Workflow): Promise<void>;
  isRunning(fileId: string): Promise<boolean>;
  cancel(fileId: string): Promise<void>;
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

const DEADLINE_MS = 2000;

/** Loaded on demand, since it is large; connects by itself when it is needed, and again when Temporal is back. */
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
    // The dispatcher tries again by itself, and sooner than a channel that waits for two minutes.
    interceptors: [],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1000 },
  });
  const { workflow } = new Client({ connection, ...(namespace !== undefined && { namespace }) });
  const inTime = <T>(call: () => Promise<T>) => connection.withDeadline(Date.now() + DEADLINE_MS, call);

  return {
    async start({ fileId, family, epoch, workspaceId, outputModel }) {
      const task: GenerationTask = { fileId, family, epoch };
      const starting = inTime(() =>
        workflow.start(workflowTypeOf(family), {
          workflowId: workflowIdOf(fileId),
          taskQueue: WORKFLOW_QUEUE,
          args: [task],
          // A generation that was handed over again is open, whatever became of the workflow that had it before.
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

    async isRunning(fileId) {
      try {
        const { status } = await inTime(() => workflow.getHandle(workflowIdOf(fileId)).describe());
        return status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },

    async cancel(fileId) {
      await inTime(() => workflow.getHandle(workflowIdOf(fileId)).cancel()).catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
    },

    isReachable: () =>
      inTime(() => connection.workflowService.getSystemInfo({})).then(
        () => true,
        () => false,
      ),

    close: () => connection.close(),
  };
}
