type VendorFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** `fetch` for the libraries of providers: a key goes to the address that was set and no other, and no answer is endless. */
export function vendorFetch(
  mostBytes: number,
  sent: (headers: Headers) => Headers = (headers) => headers,
): VendorFetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, headers: sent(new Headers(init?.headers)), redirect: 'error' });
    if (response.body === null) return response;
    let received = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        received += bytes.length;
        if (received > mostBytes) controller.error(new Error('the answer does not end'));
        else controller.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(counted), response);
  };
}
