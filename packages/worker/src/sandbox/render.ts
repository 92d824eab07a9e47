import { writeFile } from 'node:fs/promises';

export async function renderSandbox(
  request: { outputType: string; outputModel: string; prompt: string },
  path: string,
  _options?: unknown,
): Promise<void> {
  await writeFile(path, request.outputModel === 'markdown' ? `# ${request.prompt}\n` : bytesOf(request.outputType));
}

export async function closeSandbox(): Promise<void> {}

function bytesOf(outputType: string): Buffer {
  if (outputType === 'IMAGE') return Buffer.from(PIXEL, 'base64');
  if (outputType === 'VIDEO') return Buffer.from('\0\0\0\x14ftypisom\0\0\x02\0mp41', 'latin1');
  if (outputType === '3D') return Buffer.from('glTF\x02\0\0\0\x0c\0\0\0', 'latin1');
  return Buffer.from('%PDF-1.4\n1 0 obj\n');
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
