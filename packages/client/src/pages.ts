import type { CallOptions } from './call.ts';

interface CursorPage<Item> {
  data: Item[];
  page: { next: string | null; prev: string | null };
}

interface NumberedPage<Item> {
  data: Item[];
  page: { current: number; hasNext: boolean };
}

interface CursorRequest {
  body?: { next?: string | undefined; prev?: string | undefined };
}

interface NumberedRequest {
  query?: { page?: string | number | undefined };
}

type List<Request, Page> = (request: Request, options?: CallOptions) => Promise<Page>;

/**
 * Yields the items of a list, page by page, in the order of the request.
 *
 * Comments in ascending order start at their newest page: all pages are read before the first item. With `desc`, the
 * newest item comes first, and pages are read as needed.
 */
export function items<Request extends CursorRequest | undefined, Item>(
  list: List<Request, CursorPage<Item>>,
  request: NoInfer<NonNullable<Request>>,
  options?: CallOptions,
): AsyncGenerator<Item, void>;
export function items<Request extends NumberedRequest | undefined, Item>(
  list: List<Request, NumberedPage<Item>>,
  request: NoInfer<NonNullable<Request>>,
  options?: CallOptions,
): AsyncGenerator<Item, void>;
export async function* items<Request extends (CursorRequest & NumberedRequest) | undefined, Item>(
  list: List<Request, AnyPage<Item>>,
  request: NoInfer<NonNullable<Request>>,
  options: CallOptions = {},
): AsyncGenerator<Item, void> {
  const before: Item[][] = [];
  for await (const { page, backward } of walkPages(list, request, options)) {
    if (backward) before.push(page.data);
    else yield* page.data;
  }
  for (let data = before.pop(); data !== undefined; data = before.pop()) yield* data;
}

/**
 * Yields the pages of a list, from the one that the request names, in the direction that has more pages. Comments in
 * ascending order begin with the newest page and continue with older ones.
 */
export function pages<Request extends CursorRequest | undefined, Item>(
  list: List<Request, CursorPage<Item>>,
  request: NoInfer<NonNullable<Request>>,
  options?: CallOptions,
): AsyncGenerator<CursorPage<Item>, void>;
export function pages<Request extends NumberedRequest | undefined, Item>(
  list: List<Request, NumberedPage<Item>>,
  request: NoInfer<NonNullable<Request>>,
  options?: CallOptions,
): AsyncGenerator<NumberedPage<Item>, void>;
export async function* pages<Request extends (CursorRequest & NumberedRequest) | undefined, Item>(
  list: List<Request, AnyPage<Item>>,
  request: NoInfer<NonNullable<Request>>,
  options: CallOptions = {},
): AsyncGenerator<AnyPage<Item>, void> {
  for await (const { page } of walkPages(list, request, options)) yield page;
}

type AnyPage<Item> = CursorPage<Item> | NumberedPage<Item>;

async function* walkPages<Request extends (CursorRequest & NumberedRequest) | undefined, Item>(
  list: List<Request, AnyPage<Item>>,
  request: NonNullable<Request>,
  options: CallOptions,
): AsyncGenerator<{ page: AnyPage<Item>; backward: boolean }, void> {
  let page = await list(request, options);
  const { next, prev } = request.body ?? {};
  const backward =
    prev !== undefined ||
    ('next' in page.page && next === undefined && page.page.next === null && page.page.prev !== null);
  for (;;) {
    yield { page, backward };
    if ('next' in page.page) {
      const cursor = backward ? page.page.prev : page.page.next;
      if (cursor === null) return;
      const position = backward ? { prev: cursor, next: undefined } : { next: cursor, prev: undefined };
      page = await list({ ...request, body: { ...request.body, ...position } }, options);
    } else {
      if (!page.page.hasNext) return;
      page = await list({ ...request, query: { ...request.query, page: page.page.current + 1 } }, options);
    }
  }
}
