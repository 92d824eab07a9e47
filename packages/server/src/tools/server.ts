import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { successStatus } from '@review/contract';
import { releaseVersion } from '../config/release.ts';
import type { Deps } from '../deps.ts';
import type { Operations } from './operations.ts';
import { posterOf } from './poster.ts';
import { listResources, readableTemplates, readResource } from './resources.ts';
import { type Era, failedResult, problemOf, toolResult } from './results.ts';
import { run, type ToolRequest } from './run.ts';
import { cancelTask, generationResult, getTask, supportsTasks, TASKS, TaskParams, updateTask } from './tasks.ts';

const ABOUT = { name: 'project-review-service', title: 'Project Review Service', version: releaseVersion() };

const INSTRUCTIONS = `Media projects, their review, and files generated with AI models. \
Begin with whoami and list_projects. generate_file returns at once and the file is generated in the background: \
call get_file with wait until it is done. list_models describes the inputs of each model. get_file also shows the poster of a picture, video, document or 3D file. get_file_download returns a link to the content of a file. \
To continue a list with page.next or page.prev, call the tool again with that cursor as next or prev.`;

/** Creates the MCP server of one request, limited to the scopes of its caller. */
export function toolServer(deps: Deps, operations: Operations, toolRequest: ToolRequest, era: Era): Server {
  const server = new Server(ABOUT, {
    capabilities: {
      tools: {},
      // Older revisions subscribe per session, and this endpoint has none.
      resources: era === 'modern' ? { subscribe: true } : {},
      ...(era === 'modern' && { extensions: { [TASKS]: {} } }),
    },
    instructions: INSTRUCTIONS,
  });

  /** Maps errors to protocol errors that contain the problem, for methods whose results cannot contain one. */
  async function asProtocol<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      const { problem, document } = problemOf(error, deps, toolRequest);
      const code = problem.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
      throw new ProtocolError(code, problem.message, document);
    }
  }

  server.setRequestHandler('tools/list', () => ({
    tools: operations.tools
      .filter(({ operation }) => operations.hasScope(operation, toolRequest.caller))
      // Clients that get an output schema expect structured content.
      .map(({ definition: { outputSchema, ...rest } }) => (era === 'modern' ? { ...rest, outputSchema } : rest)),
  }));

  server.setRequestHandler('tools/call', async ({ params }, client) => {
    const tool = operations.tools.find(({ definition }) => definition.name === params.name);
    if (tool === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool ${params.name}. tools/list returns the available tools.`,
      );
    try {
      const answer = await run(deps, toolRequest, operations.get(tool.operation), tool.split(params.arguments ?? {}));
      if (successStatus(tool.route) === 202)
        return await generationResult(deps, toolRequest, operations, answer, client, era);
      const result = toolResult(answer, era);
      const poster = tool.operation === 'files.get' ? await posterOf(deps, answer) : null;
      return poster === null ? result : { ...result, content: [...result.content, poster] };
    } catch (error) {
      return failedResult(problemOf(error, deps, toolRequest).document);
    }
  });

  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: readableTemplates(operations, toolRequest),
  }));
  server.setRequestHandler('resources/list', ({ params }) =>
    asProtocol(() => listResources(deps, toolRequest, operations, params?.cursor)),
  );
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    asProtocol(async () => {
      const content = await readResource(deps, toolRequest, operations, uri);
      if (content === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri });
      return { contents: [content] };
    }),
  );

  if (era === 'modern') {
    const onTask = (method: string, work: (taskId: string) => Promise<object>) =>
      server.setRequestHandler(method, { params: TaskParams }, ({ taskId }, client) => {
        requireTasks(client);
        return asProtocol(async () => ({ ...(await work(taskId)) }));
      });
    onTask('tasks/get', (taskId) => getTask(deps, toolRequest, operations, taskId));
    onTask('tasks/cancel', (taskId) => cancelTask(deps, toolRequest, operations, taskId));
    onTask('tasks/update', (taskId) => updateTask(deps, toolRequest, taskId));
  }
  return server;
}

function requireTasks(client: ServerContext): void {
  if (supportsTasks(client)) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
}
