import { Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { briefFacts } from '../files/media/describe.ts';
import { Thumbnail } from '../files/media/thumbnail.tsx';
import { fileQuery } from '../files/queries.ts';
import { useProject } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Loaded } from '../ui/loaded.tsx';
import rows from '../ui/rows.module.css';
import { sizeOf } from '../ui/size.ts';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Tile } from '../ui/tile.tsx';
import { Time } from '../ui/time.tsx';
import { versionQuery } from './queries.ts';
import { VersionStatus } from './status.tsx';
import { VersionForm } from './version-form.tsx';

const route = getRouteApi('/console/projects/$projectId/versions/$versionId');

export function VersionPage() {
  const { projectId, versionId } = route.useParams();
  const { refusal } = useProject(projectId);
  const query = useQuery(versionQuery(versionId));
  const [editing, form] = useDisclosure(false);
  const unreadable = refusal(contract.files.get);
  return (
    <Loaded query={query}>
      {(version) => (
        <Stack gap="md">
          <Group justify="space-between" align="flex-start">
            <div>
              <Text size="sm">
                <Link to="/projects/$projectId/versions" params={{ projectId }}>
                  Versions
                </Link>
              </Text>
              <Title order={2}>{version.name}</Title>
              <Text size="sm" c="dimmed">
                Made <Time at={version.createdAt} />, changed <Time at={version.updatedAt} />
                {version.allowRestricted && ' · open to restricted reviewers'}
              </Text>
            </div>
            <Group gap="sm">
              <VersionStatus version={version} />
              <ActionButton size="xs" variant="default" refusal={refusal(contract.versions.update)} onClick={form.open}>
                Edit
              </ActionButton>
            </Group>
          </Group>
          {version.description !== null && (
            <Text dir="auto" style={{ whiteSpace: 'pre-wrap' }}>
              {version.description}
            </Text>
          )}
          {unreadable !== null && <ForbiddenHint reason={unreadable} />}
          {version.files.length === 0 ? (
            <EmptyState icon="document" title="No files in this version">
              Press Edit to choose the files that belong to it.
            </EmptyState>
          ) : (
            unreadable === null && (
              <ul className={rows.rows} aria-label="Files of the version">
                {version.files.map(({ id }) => (
                  <VersionFile key={id} id={id} />
                ))}
              </ul>
            )
          )}
          {editing && <VersionForm projectId={projectId} begin={version} onDone={form.close} onClose={form.close} />}
        </Stack>
      )}
    </Loaded>
  );
}

function VersionFile({ id }: { id: string }) {
  const { data: file, isError } = useQuery(fileQuery(id));
  return (
    <li className={rows.row}>
      {file === undefined ? <Tile icon="document" /> : <Thumbnail file={file} />}
      <div className={rows.main}>
        <Link to="/files/$fileId" params={{ fileId: id }} className={rows.name}>
          {file?.name ?? id}
        </Link>
        <div className={rows.detail}>
          {isError && 'This file could not be loaded.'}
          {file?.media != null && briefFacts(file.media).map((fact) => `${fact} · `)}
          {file?.size != null && sizeOf(file.size)}
        </div>
      </div>
      {file !== undefined && <StatusBadge status={file.status === 'UPLOADED' ? file.tag : file.status} />}
    </li>
  );
}
