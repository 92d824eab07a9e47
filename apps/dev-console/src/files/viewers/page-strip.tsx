import { type CommentPin, contract, type FileDetails, MAX_PAGES_PER_REQUEST } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef } from 'react';
import { client } from '../../api.ts';
import { useApiMutation } from '../../api-mutation.ts';
import { usePins } from '../../comments/pins.ts';
import { projectQuery } from '../../projects/project-query.ts';
import { useRefusal } from '../../session/access.ts';
import classes from './page-strip.module.css';

const TILE_PX = 92;

interface PageStripProps {
  file: FileDetails;
  count: number;
  current: number;
  onTurn: (to: number) => void;
}

/** Small pictures of the pages to turn to, with the number of comments on each. Only those in view are rendered. */
export function PageStrip({ file, count, current, onTurn }: PageStripProps) {
  const id = useId();
  const strip = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    horizontal: true,
    count,
    getScrollElement: () => strip.current,
    estimateSize: () => TILE_PX,
    overscan: 2,
  });
  const tiles = virtual.getVirtualItems().map(({ index, start }) => ({ number: index + 1, start }));
  const pictures = useMemo(() => picturesOf(file), [file]);
  const pins = usePins(file);
  const comments = useMemo(() => countByPage(pins), [pins]);
  const missing = tiles.flatMap(({ number }) => (pictures.has(number) ? [] : [number]));
  useMissingPages(file, virtual.isScrolling ? [] : missing);
  useEffect(() => virtual.scrollToIndex(current - 1, { align: 'auto' }), [virtual, current]);

  const targets: Record<string, number> = {
    ArrowLeft: current - 1,
    PageUp: current - 1,
    ArrowRight: current + 1,
    PageDown: current + 1,
    Home: 1,
    End: count,
  };
  const press = (event: KeyboardEvent) => {
    const target = targets[event.key];
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onTurn(target);
  };

  const isCurrentShown = tiles.some(({ number }) => number === current);
  return (
    <div
      ref={strip}
      className={classes.strip}
      role="listbox"
      aria-label="Pages"
      aria-orientation="horizontal"
      aria-activedescendant={isCurrentShown ? `${id}-${current}` : undefined}
      tabIndex={0}
      onKeyDown={press}
    >
      <div className={classes.tiles} style={{ width: virtual.getTotalSize() }}>
        {tiles.map(({ number, start }) => (
          <button
            key={number}
            id={`${id}-${number}`}
            type="button"
            role="option"
            className={classes.tile}
            style={{ left: start, width: TILE_PX }}
            tabIndex={-1}
            aria-label={labelOf(number, comments.get(number) ?? 0)}
            aria-selected={number === current}
            aria-posinset={number}
            aria-setsize={count}
            onClick={() => onTurn(number)}
          >
            <span className={classes.picture}>
              {pictures.has(number) && <img src={pictures.get(number)} alt="" decoding="async" />}
            </span>
            <span className={classes.caption}>
              {number}
              {/* The space, because the label contains these two numbers as two words. */}
              {comments.has(number) && (
                <>
                  {' '}
                  <span className={classes.comments}>{comments.get(number)}</span>
                </>
              )}
            </span>
          </button>
        ))}
      </div>
    </div>
  );
}

/** The URLs of the pictures by page. The thumbnail of a document shows its first page. */
function picturesOf({ renditions, thumbnailUrl }: FileDetails): Map<number, string> {
  const pictures = new Map<number, string>();
  if (thumbnailUrl !== null) pictures.set(1, thumbnailUrl);
  for (const { page, url } of renditions) if (page !== null) pictures.set(page, url);
  return pictures;
}

function countByPage(pins: readonly CommentPin[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { anchor } of pins) if (anchor !== null) counts.set(anchor, (counts.get(anchor) ?? 0) + 1);
  return counts;
}

function labelOf(number: number, comments: number): string {
  if (comments === 0) return `Page ${number}`;
  return `Page ${number}, ${comments} ${comments === 1 ? 'comment' : 'comments'}`;
}

/**
 * Requests pictures of pages that have none, each once, if the user may. Waits until the workers are done with the last request,
 * because a new one makes them start again.
 */
function useMissingPages({ id, project, media }: FileDetails, missing: readonly number[]): void {
  const refusal = useRefusal();
  const { data } = useQuery({ ...projectQuery(project.id), enabled: refusal(contract.projects.get) === null });
  const mayRequest = data !== undefined && refusal(contract.files.rebuildMedia, data.role) === null;
  const request = useApiMutation((pages: number[]) => client.files.rebuildMedia({ params: { id }, body: { pages } }), {
    invalidates: [['files', id]],
  });
  const isIdle = media?.status === 'READY' && media.error === null && !request.isPending;
  const requested = useRef(new Set<number>());
  useEffect(() => {
    if (!mayRequest || !isIdle) return;
    const pages = missing.filter((page) => !requested.current.has(page)).slice(0, MAX_PAGES_PER_REQUEST);
    if (pages.length === 0) return;
    for (const page of pages) requested.current.add(page);
    request.mutate(pages);
  });
}
