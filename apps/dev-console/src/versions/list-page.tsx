import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { contract } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useProject } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import rows from '../ui/rows.module.css';
import { Time } from '../ui/time.tsx';
import { versionsQuery } from './queries.ts';
import { VersionStatus } from './status.tsx';
import { VersionForm } from './version-form.tsx';

const route = getRouteApi('/console/projects/$projectId/versions');

export function VersionsPage() {
  const { projectId } = route.useParams();
  const { page = 1, sort, create } = route.useSearch();
  const navigate = route.useNavigate();
  const { refusal } = useProject(projectId);
  const query = useQuery(versionsQuery(projectId, { page, byName: sort === 'name' }));
  const uncreatable = refusal(contract.versions.create);
  const turn = (to: number) => void navigate({ search: (now) => ({ ...now, page: to === 1 ? undefined : to }) });
  const newVersion = (
    <ActionButton
      refusal={uncreatable}
      leftSection={<Icon name="plus" size={16} />}
      onClick={() => void navigate({ search: (now) => ({ ...now, create: [] }) })}
    >
      New version
    </ActionButton>
  );
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <NativeSelect
          aria-label="Order"
          value={sort ?? ''}
          onChange={({ target }) =>
            void navigate({ search: target.value === 'name' ? { sort: 'name' } : {}, replace: true })
          }
          data={[
            { value: '', label: 'Newest first' },
            { value: 'name', label: 'By name' },
          ]}
        />
        {newVersion}
      </Group>
      <Loaded query={query}>
        {({ data, page: { hasNext } }) =>
          data.length === 0 && page === 1 ? (
            <EmptyState icon="clock" title="No versions yet" action={newVersion}>
              A version is a set of files as you send them out for review: “first cut”, “with music”. Its status says
              how far the review has come.
            </EmptyState>
          ) : (
            <>
              <ul className={rows.rows} aria-label="Versions">
                {data.map((version) => (
                  <li key={version.id} className={rows.row}>
                    <div className={rows.main}>
                      <Link
                        to="/projects/$projectId/versions/$versionId"
                        params={{ projectId, versionId: version.id }}
                        className={rows.name}
                      >
                        {version.name}
                      </Link>
                      <div className={rows.detail}>
                        <Time at={version.createdAt} />
                        {version.description !== null && ` · ${version.description}`}
                      </div>
                    </div>
                    <VersionStatus version={version} />
                  </li>
                ))}
              </ul>
              {(page > 1 || hasNext) && (
                <Group justify="center">
                  <Button variant="default" disabled={page === 1} onClick={() => turn(page - 1)}>
                    Back
                  </Button>
                  <Text size="sm">Page {page}</Text>
                  <Button variant="default" disabled={!hasNext} onClick={() => turn(page + 1)}>
                    On
                  </Button>
                </Group>
              )}
            </>
          )
        }
      </Loaded>
      {create !== undefined && uncreatable === null && (
        <VersionForm
          projectId={projectId}
          begin={create}
          onDone={(versionId) =>
            void navigate({ to: '/projects/$projectId/versions/$versionId', params: { projectId, versionId } })
          }
          onClose={() => void navigate({ search: (now) => ({ ...now, create: undefined }), replace: true })}
        />
      )}
    </Stack>
  );
}
