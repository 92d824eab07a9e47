import { Button, Skeleton } from '@mantine/core';
import { contract, type FileRecord } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { projectQuery } from '../projects/project-query.ts';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusBadge, statusLabel } from '../ui/status-badge.tsx';
import { FileSide } from './file-side.tsx';
import classes from './page.module.css';
import { downloadQuery, useLiveFile } from './queries.ts';
import { usePosition } from './use-position.ts';
import { Viewer } from './viewer.tsx';

const route = getRouteApi('/console/files/$fileId');

export function FilePage() {
  const { fileId } = route.useParams();
  const forbidden = useRefusal()(contract.files.get);
  const file = useLiveFile(fileId, forbidden === null);
  const framed = (content: ReactNode) => <Page title="File">{content}</Page>;
  if (forbidden !== null) return framed(<ForbiddenHint reason={forbidden} />);
  if (file.isError) return framed(<ProblemNotice error={file.error} onRetry={() => void file.refetch()} />);
  if (file.data === undefined) return framed(<Skeleton h={420} />);
  return <File key={fileId} file={file.data} />;
}

function File({ file }: { file: FileRecord }) {
  const refusal = useRefusal();
  const project = useQuery({ ...projectQuery(file.project.id), enabled: refusal(contract.projects.get) === null });
  const forbidden = refusal(contract.files.download, project.data?.role);
  const download = useQuery({ ...downloadQuery(file.id), enabled: forbidden === null && file.status === 'UPLOADED' });
  const { at, asked, report, seek } = usePosition();
  const address = download.data?.url;

  return (
    <Page
      wide
      title={file.name}
      trail={
        <Link
          to="/projects/$projectId"
          params={{ projectId: file.project.id }}
          search={file.folder === null ? {} : { folder: file.folder.id }}
        >
          {project.data?.name ?? 'Project'}
        </Link>
      }
      description={<StatusBadge status={file.status === 'UPLOADED' ? file.tag : file.status} />}
      actions={
        <>
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
            <EmptyState icon="clock" title={statusLabel(file.status)}>
              {file.generation?.error?.message ?? 'The content is shown here as soon as it is available.'}
            </EmptyState>
          )}
          {file.status === 'UPLOADED' && forbidden !== null && <ForbiddenHint reason={forbidden} />}
          {download.isError && <ProblemNotice error={download.error} onRetry={() => void download.refetch()} />}
          {download.isLoading && <Skeleton h={420} />}
          {address !== undefined && <Viewer file={file} url={address} asked={asked} onPosition={report} />}
        </div>
        <FileSide file={file} at={at} onJump={seek} />
      </div>
    </Page>
  );
}
