import { ActionIcon } from '@mantine/core';
import { contract, type FileRecord } from '@review/contract';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useShortcuts } from '../review/shortcuts.tsx';
import { useRefusal } from '../session/access.ts';
import { Icon } from '../ui/icon.tsx';
import { useFolderFiles } from './browser-query.ts';
import type { FileOrder } from './order.ts';

const route = getRouteApi('/console/files/$fileId');

/** A file further down its folder has no neighbours, rather than a long wait for the pages before it. */
const MAX_FILES = 1000;

/** The files before and after this one in the list of their folder. */
function useNeighbours({ id, project, folder }: FileRecord, order: FileOrder | undefined) {
  const enabled = useRefusal()(contract.files.list) === null;
  const filters = { folderId: folder?.id ?? null, keyword: '', tag: undefined, order };
  const { data: files = [], hasNextPage, isFetching, fetchNextPage } = useFolderFiles(project.id, filters, enabled);
  const index = files.findIndex((file) => file.id === id);
  const isEnd = index < 0 || index === files.length - 1;
  const isShort = isEnd && hasNextPage && !isFetching && files.length < MAX_FILES;
  useEffect(() => {
    if (isShort) void fetchNextPage();
  }, [isShort, fetchNextPage]);
  return index < 0 ? {} : { previous: files[index - 1], next: files[index + 1] };
}

/** Leads to the previous and the next file of the folder, by buttons and by keys. The arrangement of the comments stays. */
export function Neighbours({ file }: { file: FileRecord }) {
  const navigate = route.useNavigate();
  const { sort, show, order } = route.useSearch();
  const { previous, next } = useNeighbours(file, order);
  const search = { sort, show, order };
  const open = (neighbour: FileRecord | undefined) =>
    neighbour && void navigate({ to: '/files/$fileId', params: { fileId: neighbour.id }, search });
  useShortcuts([
    { keys: ['['], label: 'Previous file of the folder', run: () => open(previous) },
    { keys: [']'], label: 'Next file of the folder', run: () => open(next) },
  ]);
  const button = (label: string, icon: 'previous' | 'next', neighbour: FileRecord | undefined) => (
    <ActionIcon
      variant="default"
      size="sm"
      aria-label={label}
      title={neighbour?.name}
      disabled={neighbour === undefined}
      {...(neighbour !== undefined && {
        renderRoot: (props) => (
          <Link {...props} to="/files/$fileId" params={{ fileId: neighbour.id }} search={search} />
        ),
      })}
    >
      <Icon name={icon} size={14} />
    </ActionIcon>
  );
  return (
    <ActionIcon.Group>
      {button('Previous file', 'previous', previous)}
      {button('Next file', 'next', next)}
    </ActionIcon.Group>
  );
}
