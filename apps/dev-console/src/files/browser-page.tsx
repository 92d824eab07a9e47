import { Button, FileButton, Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, type Folder, REVIEW_STATUSES } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { Breadcrumb } from '../folders/breadcrumb.tsx';
import { FolderRow } from '../folders/folder-row.tsx';
import { foldersIn, foldersQuery, pathTo } from '../folders/queries.ts';
import { useProject } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { LongList } from '../ui/long-list.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { NameDialog } from '../ui/name-dialog.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { SearchField } from '../ui/search-field.tsx';
import { statusLabel } from '../ui/status-badge.tsx';
import { startUploads, useUploads } from '../uploads/uploads.ts';
import classes from './browser-page.module.css';
import { useFolderFiles } from './browser-query.ts';
import { useBulk } from './bulk.ts';
import { ChosenFiles } from './chosen-files.tsx';
import { DropZone } from './drop-zone.tsx';
import { FileRow } from './file-row.tsx';
import { FILE_ORDERS } from './order.ts';
import { useSelection } from './selection.ts';

const route = getRouteApi('/console/projects/$projectId/');
const FileGrid = lazy(async () => ({ default: (await import('./grid.tsx')).FileGrid }));
const NONE: Folder[] = [];

export function FilesPage() {
  const { projectId } = route.useParams();
  const { folder: folderId = null, keyword = '', tag, order, view } = route.useSearch();
  const { refusal } = useProject(projectId);
  const foldersHidden = refusal(contract.folders.list);
  const filesHidden = refusal(contract.files.list);
  const folders = useQuery({ ...foldersQuery(projectId), enabled: foldersHidden === null }).data ?? NONE;
  const files = useFolderFiles(projectId, { folderId, keyword, tag, order }, filesHidden === null);
  const { unfinished } = useUploads();
  const sending = useMemo(() => unfinished.map(({ state }) => state.id), [unfinished]);
  const shown = useMemo(() => (files.data ?? []).filter(({ id }) => !sending.includes(id)), [files.data, sending]);
  const selection = useSelection(useMemo(() => shown.map(({ id }) => id), [shown]));
  const { chosen, isChosen, draggedWith, choose } = selection;
  const move = useBulk(() => {});
  const everywhere = keyword !== '' || tag !== undefined;
  const shownFolders = everywhere ? [] : foldersIn(folders, folderId);
  const here = pathTo(folders, folderId).at(-1)?.name ?? 'the project';
  const notUploadable = refusal(contract.files.startUpload);
  const take = (sources: File[]) => startUploads(sources, { projectId, folderId });

  return (
    <DropZone refusal={notUploadable} label={`Drop to upload into ${here}`} onFiles={take}>
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <Breadcrumb projectId={projectId} folders={folders} folderId={folderId} />
          <Group gap="xs">
            {refusal(contract.files.trash) === null && (
              <Button
                variant="subtle"
                color="gray"
                leftSection={<Icon name="trash" size={16} />}
                renderRoot={(props) => <Link {...props} to="/projects/$projectId/trash" params={{ projectId }} />}
              >
                Trash
              </Button>
            )}
            <NewFolder projectId={projectId} parentId={folderId} refusal={refusal(contract.folders.create)} />
            <Button
              variant="default"
              leftSection={<Icon name="spark" size={16} />}
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/generate"
                  search={{ project: projectId, ...(folderId !== null && { folder: folderId }) }}
                />
              )}
            >
              Generate
            </Button>
            <FileButton multiple onChange={take} inputProps={{ 'aria-label': 'Files to upload' }}>
              {({ onClick }) => (
                <ActionButton refusal={notUploadable} leftSection={<Icon name="upload" size={16} />} onClick={onClick}>
                  Upload
                </ActionButton>
              )}
            </FileButton>
          </Group>
        </Group>
        <Filters key={projectId} />
        {foldersHidden !== null && <ForbiddenHint reason={foldersHidden} />}
        {move.isError && <ProblemNotice error={move.error} />}
        {chosen.length > 0 && (
          <ChosenFiles
            projectId={projectId}
            chosen={shown.filter(({ id }) => isChosen(id))}
            folders={folders}
            folderId={folderId}
            refusal={refusal}
            onAll={selection.chooseAll}
            onNone={selection.chooseNone}
          />
        )}
        <Loaded query={files} refusal={filesHidden}>
          {() =>
            shown.length + shownFolders.length === 0 ? (
              <Nothing everywhere={everywhere} />
            ) : (
              <>
                {(shownFolders.length > 0 || view !== 'grid') && (
                  <LongList
                    label="Folders and files"
                    className={rows.rows}
                    items={[...shownFolders, ...(view === 'grid' ? [] : shown)]}
                  >
                    {(item, place) =>
                      'parent' in item ? (
                        <FolderRow
                          key={item.id}
                          place={place}
                          projectId={projectId}
                          folder={item}
                          folders={folders}
                          refusal={refusal}
                          onFiles={(ids, folder) =>
                            move.mutate({
                              ids,
                              change: (id) => client.files.update({ params: { id }, body: { folder } }),
                            })
                          }
                        />
                      ) : (
                        <FileRow
                          key={item.id}
                          place={place}
                          file={item}
                          folders={folders}
                          refusal={refusal}
                          isChosen={isChosen(item.id)}
                          draggedWith={draggedWith}
                          onChoose={choose}
                        />
                      )
                    }
                  </LongList>
                )}
                {view === 'grid' && (
                  <Suspense>
                    <FileGrid
                      files={shown}
                      folders={folders}
                      refusal={refusal}
                      isChosen={isChosen}
                      draggedWith={draggedWith}
                      onChoose={choose}
                    />
                  </Suspense>
                )}
                <MoreButton query={files}>Show more files</MoreButton>
              </>
            )
          }
        </Loaded>
      </Stack>
    </DropZone>
  );
}

function Filters() {
  const { keyword = '', tag, order, view } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Group gap="sm">
      <SearchField
        className={classes.search}
        label="Search files in this project"
        placeholder="Search in all folders"
        maxLength={maxLengthOf(contract.files.list.body.shape.keyword)}
        keyword={keyword}
        onSearch={(words, { replace }) =>
          void navigate({ search: (now) => ({ ...now, keyword: words === '' ? undefined : words }), replace })
        }
      />
      <NativeSelect
        aria-label="Review status"
        value={tag ?? ''}
        onChange={({ target }) => {
          const next = REVIEW_STATUSES.find((status) => status === target.value);
          void navigate({ search: (now) => ({ ...now, tag: next }), replace: true });
        }}
        data={[
          { value: '', label: 'Any review status' },
          ...REVIEW_STATUSES.map((status) => ({ value: status, label: statusLabel(status) })),
        ]}
      />
      <NativeSelect
        aria-label="Order"
        value={order ?? ''}
        onChange={({ target }) => {
          const next = FILE_ORDERS.find((each) => each === target.value);
          void navigate({ search: (now) => ({ ...now, order: next }), replace: true });
        }}
        data={[
          { value: '', label: 'Newest first' },
          { value: 'oldest', label: 'Oldest first' },
          { value: 'name', label: 'By name' },
        ]}
      />
      <SegmentedControl
        aria-label="View"
        value={view ?? 'list'}
        onChange={(next) =>
          void navigate({ search: (now) => ({ ...now, view: next === 'grid' ? 'grid' : undefined }), replace: true })
        }
        data={[
          { value: 'list', label: 'List' },
          { value: 'grid', label: 'Grid' },
        ]}
      />
    </Group>
  );
}

function NewFolder(props: { projectId: string; parentId: string | null; refusal: string | null }) {
  const { projectId, parentId, refusal } = props;
  const [open, dialog] = useDisclosure(false);
  const create = useApiMutation(
    async (name: string) => {
      const parent = parentId === null ? null : { id: parentId };
      await client.folders.create({ params: { id: projectId }, body: { name, parent } });
    },
    { invalidates: [['folders', projectId]], onDone: dialog.close },
  );
  return (
    <>
      <ActionButton
        refusal={refusal}
        variant="default"
        leftSection={<Icon name="folder" size={16} />}
        onClick={() => {
          create.reset();
          dialog.open();
        }}
      >
        New folder
      </ActionButton>
      {open && (
        <NameDialog
          title="New folder"
          submit="Create folder"
          label="Name"
          maxLength={maxLengthOf(contract.folders.create.body.shape.name)}
          mutation={create}
          onName={create.mutate}
          onClose={dialog.close}
        />
      )}
    </>
  );
}

const Nothing = ({ everywhere }: { everywhere: boolean }) =>
  everywhere ? (
    <EmptyState icon="search" title="No file matches">
      Nothing in this project has that name and review status. Take a word away, or choose another status.
    </EmptyState>
  ) : (
    <EmptyState icon="upload" title="No files here yet">
      Drag files onto this page, press Upload, or generate one. Large files are sent in parts: you can pause, go on
      later, or leave the page.
      <Text size="sm" mt="xs">
        Choose two files to compare them side by side, or several to make a version for review.
      </Text>
    </EmptyState>
  );
