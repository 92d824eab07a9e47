type VendorFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Returns a `fetch` for provider libraries that follows no redirect, so that the key stays with its host, and limits the size of an answer. */
export function vendorFetch(maxBytes: number, sent: (headers: Headers) => Headers = (headers) => headers): VendorFetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, headers: sent(new Headers(init?.headers)), redirect: 'error' });
    if (response.body === null) return response;
    let received = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        received += bytes.length;
        if (received > maxBytes) controller.error(new Error(`the answer has more than ${maxBytes} bytes`));
        else controller.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(counted), response);
  };
}
