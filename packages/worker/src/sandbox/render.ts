import { writeFile } from 'node:fs/promises';
export async function renderSandbox(request: { outputType: string; outputModel: string; prompt: string }, path: string, _o?: unknown) {
  await writeFile(path, request.outputModel === 'markdown' ? `# ${request.prompt}\n` : '%PDF-1.4\n1 0 obj\n');
}
export async function closeSandbox() {}
