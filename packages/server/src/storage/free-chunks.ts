import type { ServerResponse } from 'node:http';

/*
 * Left to the garbage collector, chunks that are already written wait for it until there are 60 to 100 MB of them:
 * their memory lies outside of its heap, which hardly grows meanwhile.
 */

/** The chunks of a body that nothing else uses; each is freed when the next is asked for. */
export async function* freeConsumed(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    yield chunk;
    free(chunk);
  }
}

/** Frees each chunk that is piped into the response, which nothing else may use, once the kernel has it. */
export function freeSent(response: ServerResponse): void {
  const write = response.write.bind(response);
  response.write = (chunk: unknown) =>
    write(chunk, (error) => {
      if (!error) free(chunk);
    });
}

/** Detaches the memory of a buffer, unless it is a view of a larger one. */
function free(chunk: unknown): void {
  if (!(chunk instanceof Uint8Array)) return;
  const { buffer, byteLength } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
