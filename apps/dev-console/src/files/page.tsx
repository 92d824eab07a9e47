import { Button, Group, Skeleton } from '@mantine/core';
import { contract, type FileDetails } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { projectQuery } from '../projects/project-query.ts';
import { DeskProvider, useNewDesk } from '../review/desk.tsx';
import { Shortcuts } from '../review/shortcuts.tsx';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { errorToShow } from '../ui/error-to-show.ts';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { statusIcon, statusLabel } from '../ui/status-badge.tsx';
import { FileDetailsCard } from './details-card.tsx';
import { FileSide } from './file-side.tsx';
import { FileStatus } from './file-status.tsx';
import { kindOf } from './kind.ts';
import { MediaNotice } from './media/media-notice.tsx';
import { renditionOf } from './media/renditions.ts';
import { Neighbours } from './neighbours.tsx';
import classes from './page.module.css';
import { downloadQuery, useLiveFile } from './queries.ts';
import { ReviewKeys } from './review-keys.tsx';
import { usePosition } from './use-position.ts';
import { Viewer } from './viewer.tsx';

const route = getRouteApi('/console/files/$fileId');

const isComparable = (file: FileDetails) => file.status === 'UPLOADED' && ['image', 'video'].includes(kindOf(file));

export function FilePage() {
  const { fileId } = route.useParams();
  const forbidden = useRefusal()(contract.files.get);
  const file = useLiveFile(fileId, forbidden === null);
  const framed = (content: ReactNode) => <Page title="File">{content}</Page>;
  if (forbidden !== null) return framed(<ForbiddenHint reason={forbidden} />);
  const error = errorToShow(file);
  if (error !== null) return framed(<ProblemNotice error={error} onRetry={() => void file.refetch()} />);
  if (file.data === undefined) return framed(<Skeleton h={420} />);
  return <File key={fileId} file={file.data} />;
}

function File({ file }: { file: FileDetails }) {
  const refusal = useRefusal();
  const project = useQuery({ ...projectQuery(file.project.id), enabled: refusal(contract.projects.get) === null });
  const forbidden = refusal(contract.files.download, project.data?.role);
  const download = useQuery({ ...downloadQuery(file.id), enabled: forbidden === null && file.status === 'UPLOADED' });
  const desk = useNewDesk(file.id);
  const { at, asked, report, seek } = usePosition(desk);
  const poster = renditionOf(file, 'POSTER');
  const address = download.data?.url;

  return (
    <DeskProvider value={desk}>
      <Shortcuts>
        <ReviewKeys file={file} isShown={address !== undefined} />
        <Page
          wide
          title={file.name}
          trail={
            <Group gap="xs" wrap="nowrap">
              <Link
                to="/projects/$projectId"
                params={{ projectId: file.project.id }}
                search={file.folder === null ? {} : { folder: file.folder.id }}
              >
                {project.data?.name ?? 'Project'}
              </Link>
              <Neighbours file={file} />
            </Group>
          }
          description={<FileStatus file={file} />}
          actions={
            <>
              {isComparable(file) && (
                <Button
                  variant="default"
                  renderRoot={(props) => <Link {...props} to="/compare" search={{ left: file.id }} />}
                >
                  Compare
                </Button>
              )}
              {file.generation !== null && (
                <Button
                  variant="default"
                  leftSection={<Icon name="pulse" size={16} />}
                  renderRoot={(props) => <Link {...props} to="/runs/$fileId" params={{ fileId: file.id }} />}
                >
                  How it was made
                </Button>
              )}
              <ActionButton
                leftSection={<Icon name="download" size={16} />}
                refusal={forbidden ?? (address === undefined ? 'There is nothing to download yet.' : null)}
                // The response is an attachment, so the browser does not leave the page.
                onClick={() => address !== undefined && window.location.assign(address)}
              >
                Download
              </ActionButton>
            </>
          }
        >
          <div className={classes.columns}>
            <div className={classes.stage}>
              {file.status !== 'UPLOADED' && (
                <EmptyState icon={statusIcon(file.status)} title={statusLabel(file.status)}>
                  {file.generation?.error?.message ?? 'The content is shown here as soon as it is available.'}
                </EmptyState>
              )}
              {file.status === 'UPLOADED' && forbidden !== null && (
                <>
                  <ForbiddenHint reason={forbidden} />
                  {poster !== undefined && (
                    <img src={poster.url} alt={`Preview of ${file.name}`} className={classes.poster} />
                  )}
                </>
              )}
              {download.isError && <ProblemNotice error={download.error} onRetry={() => void download.refetch()} />}
              {download.isLoading && <Skeleton h={420} />}
              {address !== undefined && <Viewer file={file} url={address} asked={asked} onPosition={report} />}
              <MediaNotice file={file} role={project.data?.role} />
              <FileDetailsCard file={file} />
            </div>
            <FileSide file={file} at={at} onJump={seek} />
          </div>
        </Page>
      </Shortcuts>
    </DeskProvider>
  );
}
