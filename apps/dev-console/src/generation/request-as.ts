import { contract, type GenerateRequest } from '@review/contract';

const indent = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

/** The request as code. The API key is replaced by a placeholder. */
export const REQUEST_FORMS = {
  curl: (project: string, request: GenerateRequest) =>
    [
      `curl ${window.location.origin}${contract.generation.generate.path.replace(':id', project)} \\`,
      `  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
      `  -d '${indent(JSON.stringify(request, null, 2), '  ').replaceAll("'", "'\\''")}'`,
    ].join('\n'),
  client: (project: string, request: GenerateRequest) =>
    [
      'const { data } = await review.generation.generate({',
      `  params: { id: ${JSON.stringify(project)} },`,
      `  body: ${indent(JSON.stringify(request, null, 2).replace(/"(\w+)":/g, '$1:'), '  ')},`,
      '});',
    ].join('\n'),
  mcp: (project: string, request: GenerateRequest) => {
    const params = { name: contract.generation.generate.metadata.tool, arguments: { id: project, ...request } };
    return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, null, 2);
  },
};
export type RequestForm = keyof typeof REQUEST_FORMS;
