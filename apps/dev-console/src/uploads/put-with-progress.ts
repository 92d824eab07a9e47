/**
 * A `fetch` for the parts of an upload that reports the bytes of each request as they are sent, which `fetch` itself
 * cannot. The response has the status, the headers and the text.
 */
export const putWithProgress =
  (onSent: (url: string, bytes: number) => void): typeof fetch =>
  (input, init) =>
    new Promise((resolve, reject) => {
      const url = String(input);
      const signal = init?.signal;
      const request = new XMLHttpRequest();
      const abort = () => request.abort();
      const settle = (end: () => void) => () => {
        signal?.removeEventListener('abort', abort);
        end();
      };
      const fail = settle(() => {
        onSent(url, 0);
        // `fetch` throws the same, and the client retries it.
        reject(signal?.aborted ? signal.reason : new TypeError('The part was not sent.'));
      });
      request.open(init?.method ?? 'GET', url);
      request.upload.addEventListener('progress', ({ loaded }) => onSent(url, loaded));
      request.addEventListener('error', fail);
      request.addEventListener('abort', fail);
      request.addEventListener(
        'load',
        settle(() => {
          const { status, responseText } = request;
          // A response without content must not have a body.
          const body = status === 204 || status === 304 ? null : responseText;
          resolve(new Response(body, { status, headers: headersOf(request) }));
        }),
      );
      signal?.addEventListener('abort', abort);
      if (signal?.aborted) fail();
      else request.send(init?.body instanceof ReadableStream ? null : (init?.body ?? null));
    });

const headersOf = (request: XMLHttpRequest): [string, string][] =>
  request
    .getAllResponseHeaders()
    .split('\r\n')
    .filter((line) => line.includes(': '))
    .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]);
