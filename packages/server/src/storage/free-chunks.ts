import type { ServerResponse } from 'node:http';

/*
 * The memory of chunks lies outside of the JavaScript heap, so that the garbage collector notices it late: 60 to 100 MB
 * of written chunks pile up before it runs. These functions free chunks at once.
 */

/** Frees each chunk piped into the response once the kernel has it. Nothing else may use the chunks. */
export function freeSent(response: ServerResponse): void {
  const write = response.write.bind(response);
  response.write = (chunk: unknown) =>
    write(chunk, (error) => {
      if (!error) free(chunk);
    });
}

/** Detaches the memory of a buffer, unless it is a view of a larger one. */
export function free(chunk: unknown): void {
  if (!(chunk instanceof Uint8Array)) return;
  const { buffer, byteLength } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
