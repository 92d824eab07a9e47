import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import type { SavedFile } from '../rooms/handler.ts';
import { attachment } from '../storage/download-headers.ts';

export const isSavedFile = (answer: unknown): answer is SavedFile =>
  typeof answer === 'object' && answer !== null && 'chunks' in answer && 'mimeType' in answer;

/** Returns the content of a file that is made while it is sent. Sets its name and type. */
export function toDownload(
  { name, mimeType, chunks }: SavedFile,
  request: Request,
  response: Response,
  onError: (error: Error) => void,
): Readable {
  response.set({
    'Content-Type': mimeType,
    'Content-Disposition': attachment(name),
    'Cache-Control': 'private, no-store',
  });
  const readable = request.method === 'HEAD' ? Readable.from([]) : Readable.from(chunks);
  readable.on('error', (error) => {
    onError(error);
    // The status is sent: only an aborted response tells that the file is not complete.
    response.destroy();
  });
  response.once('close', () => readable.destroy());
  return readable;
}
