import { Loader, NativeSelect, Text, Title } from '@mantine/core';
import { contract, type FileRecord } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useProject } from '../projects/project-query.ts';
import { useDesk } from '../review/desk.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { anchorKindOf } from './anchor.ts';
import type { CommentContext } from './comment.tsx';
import { Composer } from './composer.tsx';
import classes from './file-panel.module.css';
import { usePins } from './pins.ts';
import { usePosting } from './posting.ts';
import { commentQuery, useFileComments } from './queries.ts';
import { Thread } from './thread.tsx';
import { useRows } from './use-rows.ts';
import { WaitingComment } from './waiting-comment.tsx';

export type Sorting = 'time' | 'date';
export type Showing = 'open' | 'resolved';

/** A comment without a range is highlighted for as long after its moment. */
const MOMENT_MS = 1000;
/** The value of `aria-setsize` for a list of which not all is loaded. */
const UNKNOWN = -1;

interface FilePanelProps {
  /** Which comments they are, if the page has those of several files. */
  label?: string;
  file: FileRecord;
  /** The position of the viewer: milliseconds of a video or page of a document; null for other files. */
  at: number | null;
  onJump: (anchor: number) => void;
  /** The thread that the URL names. */
  thread: string | undefined;
  onThread: (thread: string | null) => void;
  sort: Sorting | undefined;
  show: Showing | undefined;
  onArrange: (arrangement: { sort?: Sorting | undefined; show?: Showing | undefined }) => void;
}

/** The comments on a file, in full height, with the composer below. Clicking a time seeks the viewer. */
export function FilePanel(props: FilePanelProps) {
  const { file, at, onJump, thread, onThread, show, onArrange } = props;
  const anchorKind = anchorKindOf(file);
  const sort = props.sort ?? (anchorKind === null ? 'date' : 'time');
  const { refusal } = useProject(file.project.id);
  const desk = useDesk();
  const unreadable = refusal(contract.comments.listOnFile);
  const resolved = show === undefined ? undefined : show === 'resolved';
  const query = useFileComments(file, { sort, resolved, enabled: unreadable === null });
  const audience = { projectId: file.project.id, allowRestricted: file.allowRestricted };
  const { waiting, post } = usePosting({ on: { file: file.id }, replyTo: null, audience }, query.data);
  const comments = query.data ?? [];
  const active = useActive(file, anchorKind === 'time' ? at : null);
  const wanted = desk?.selected ?? thread;
  const { list, rows, height, measure, show: reveal } = useRows(comments, query);
  const { projectId, allowRestricted } = audience;
  const context = useMemo<CommentContext>(
    () => ({ projectId, allowRestricted, on: { file: file.id }, anchorKind, onJump, thread, onThread, active }),
    [projectId, allowRestricted, file.id, anchorKind, onJump, thread, onThread, active],
  );

  const isWhole = !query.hasPreviousPage && !query.hasNextPage;
  const isLoaded = wanted === undefined || comments.some(({ id }) => id === wanted);
  useEffect(() => {
    if (wanted !== undefined && isLoaded) reveal(wanted);
  }, [wanted, isLoaded]);
  const [first] = active;
  useEffect(() => {
    if (first !== undefined && !list.current?.matches(':hover, :focus-within')) reveal(first);
  }, [first]);

  return (
    <section className={classes.panel} aria-label={props.label ?? 'Comments'}>
      <header className={classes.head}>
        <Title order={2}>Comments</Title>
        <NativeSelect
          aria-label="Which comments"
          size="xs"
          value={show ?? ''}
          data={[
            { value: '', label: 'All' },
            { value: 'open', label: 'Open' },
            { value: 'resolved', label: 'Resolved' },
          ]}
          onChange={({ target: { value } }) =>
            onArrange({ sort: props.sort, show: value === 'open' || value === 'resolved' ? value : undefined })
          }
        />
        <NativeSelect
          aria-label="Order of the comments"
          size="xs"
          value={sort}
          data={[
            { value: 'time', label: anchorKind === 'page' ? 'By page' : 'By time' },
            { value: 'date', label: 'Newest' },
          ]}
          onChange={({ target: { value } }) => onArrange({ show, sort: value === 'time' ? 'time' : 'date' })}
        />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
      <div ref={list} className={classes.list} role="group" aria-label="List of comments" tabIndex={0}>
        {wanted !== undefined && query.isSuccess && !isLoaded && <Linked id={wanted} context={context} />}
        <Loaded query={query} refusal={unreadable}>
          {() =>
            comments.length + waiting.length === 0 ? (
              <NoComments show={show} isTimed={anchorKind === 'time'} />
            ) : (
              <ul className={classes.rows} style={{ height }}>
                {rows.map(({ index, key, start }) => {
                  const comment = comments[index];
                  return (
                    comment && (
                      <li
                        key={key}
                        ref={measure}
                        data-index={index}
                        aria-setsize={isWhole ? comments.length : UNKNOWN}
                        aria-posinset={query.hasPreviousPage ? undefined : index + 1}
                        className={classes.row}
                        style={{ transform: `translateY(${start}px)` }}
                      >
                        <Thread comment={comment} context={context} />
                      </li>
                    )
                  );
                })}
              </ul>
            )
          }
        </Loaded>
        {(query.isFetchingNextPage || query.isFetchingPreviousPage) && (
          <Loader size="xs" aria-label="Loading more comments" className={classes.loading} />
        )}
      </div>
      {waiting.map((draft) => (
        <WaitingComment key={draft.number} draft={draft} />
      ))}
      <Composer
        label="Comment"
        on={{ file: file.id }}
        audience={audience}
        anchor={at}
        anchorKind={anchorKind}
        refusal={refusal(contract.comments.createOnFile)}
        onSend={post}
      />
    </section>
  );
}

/** The comments about the current moment, the latest first. */
function useActive(file: FileRecord, at: number | null): ReadonlySet<string> {
  const pins = usePins(file);
  const ids = pins
    .filter(({ anchor, duration }) => {
      if (at === null || anchor === null) return false;
      return anchor <= at + 1 && at <= anchor + Math.max(duration ?? 0, MOMENT_MS);
    })
    .sort((a, b) => (b.anchor ?? 0) - (a.anchor ?? 0))
    .map(({ id }) => id);
  const key = ids.join();
  return useMemo(() => new Set(key === '' ? [] : key.split(',')), [key]);
}

/** A comment that the URL or a pin names and that is not on a loaded page. */
function Linked({ id, context }: { id: string; context: CommentContext }) {
  const query = useQuery(commentQuery(id));
  return (
    <div className={classes.linked}>
      <Text size="xs" c="dimmed" mb={4}>
        Selected
      </Text>
      <Loaded query={query}>{(comment) => <Thread comment={comment} context={context} />}</Loaded>
    </div>
  );
}

function NoComments({ show, isTimed }: { show: Showing | undefined; isTimed: boolean }) {
  if (show !== undefined) {
    return (
      <Text size="sm" c="dimmed" ta="center" p="xl">
        {show === 'resolved' ? 'Nothing has been resolved yet.' : 'Nothing is open: all is resolved.'}
      </Text>
    );
  }
  return (
    <EmptyState icon="comment" title="No comments yet">
      {isTimed
        ? 'Press C where something should change and write what: the comment remembers the moment. D draws on the picture.'
        : 'Write what should change or what is good. Others reply, react, and resolve it when it is done.'}
    </EmptyState>
  );
}
