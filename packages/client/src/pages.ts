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
 * The items of a list, page after page, in the order the request asks for.
 *
 * Comments in ascending order start at their newest page: to begin with the oldest, all pages are read first. Ask for
 * `desc` to get the newest at once and to read only as far as you go.
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
  for await (const { page, backward } of turn(list, request, options)) {
    if (backward) before.push(page.data);
    else yield* page.data;
  }
  for (let data = before.pop(); data !== undefined; data = before.pop()) yield* data;
}

/**
 * The pages of a list as the service gives them: from the one that the request asks for in the direction that goes on.
 * Comments in ascending order begin with the newest page and go on with older ones.
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
  for await (const { page } of turn(list, request, options)) yield page;
}

type AnyPage<Item> = CursorPage<Item> | NumberedPage<Item>;

async function* turn<Request extends (CursorRequest & NumberedRequest) | undefined, Item>(
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
