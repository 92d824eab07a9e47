import { Button, Group, NativeSelect, Skeleton, Stack, Text } from '@mantine/core';
import { contract, FILE_STATUSES, OUTPUT_TYPES, type Project } from '@review/contract';
import { getRouteApi, Link } from '@tanstack/react-router';
import { OUTPUTS } from '../models/queries.ts';
import { ProjectChoice, useChosenProject } from '../projects/project-choice.tsx';
import { useRefusal } from '../session/access.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { errorToShow } from '../ui/error-to-show.ts';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Icon } from '../ui/icon.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { statusLabel } from '../ui/status-badge.tsx';
import { RunRow } from './run-row.tsx';
import { useRuns } from './runs-query.ts';

const route = getRouteApi('/console/runs');
const STATUSES = FILE_STATUSES.filter((status) => status !== 'UPLOADING');

export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const refusal = useRefusal();
  const { chosen, offered, isPending, error } = useChosenProject(search.project);
  const forbidden = refusal(contract.projects.list) ?? refusal(contract.files.list);
  const filter = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true });

  return (
    <Page
      title="Runs"
      description="Every generation of a project, as it happens."
      actions={
        <Button
          leftSection={<Icon name="spark" size={16} />}
          renderRoot={(props) => <Link {...props} to="/generate" search={chosen ? { project: chosen.id } : {}} />}
        >
          Generate
        </Button>
      }
    >
      {forbidden !== null ? (
        <ForbiddenHint reason={forbidden} />
      ) : error !== null ? (
        <ProblemNotice error={error} />
      ) : (
        <Stack gap="md">
          <Group gap="sm" align="end">
            <ProjectChoice chosen={chosen} offered={offered} onChoose={(project) => filter({ project })} />
            <NativeSelect
              label="Type"
              value={search.type ?? ''}
              onChange={({ target }) => filter({ type: OUTPUT_TYPES.find((type) => type === target.value) })}
              data={[
                { value: '', label: 'All types' },
                ...OUTPUT_TYPES.map((type) => ({ value: type, label: OUTPUTS[type].label })),
              ]}
            />
            <NativeSelect
              label="Status"
              value={search.status ?? ''}
              onChange={({ target }) => filter({ status: STATUSES.find((status) => status === target.value) })}
              data={[
                { value: '', label: 'Any status' },
                ...STATUSES.map((status) => ({ value: status, label: statusLabel(status) })),
              ]}
            />
          </Group>
          {chosen !== undefined && <RunList project={chosen} />}
          {chosen === undefined && isPending && <Skeleton h={240} />}
          {chosen === undefined && !isPending && (
            <EmptyState icon="folder" title="You are not a member of a project yet">
              Generations belong to a project. Create one, or ask for an access link.
            </EmptyState>
          )}
        </Stack>
      )}
    </Page>
  );
}

function RunList({ project }: { project: Project }) {
  const { type, status } = route.useSearch();
  const runs = useRuns(project.id, { type, status });
  const error = errorToShow(runs);
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void runs.refetch()} />;
  if (runs.data === undefined) return <Skeleton h={240} />;
  if (runs.data.length === 0 && !runs.hasNextPage) {
    return type === undefined && status === undefined ? (
      <EmptyState
        icon="spark"
        title="Nothing has been generated here yet"
        action={
          <Button mt="sm" renderRoot={(props) => <Link {...props} to="/generate" search={{ project: project.id }} />}>
            Generate the first file
          </Button>
        }
      >
        Pick a model, write a prompt, and the file appears here while it is being made. Without a provider’s key the
        sandbox makes real files, free of charge.
      </EmptyState>
    ) : (
      <EmptyState icon="search" title="No run matches">
        Choose another type or status to see the others.
      </EmptyState>
    );
  }
  return (
    <>
      <ul className={rows.rows}>
        {runs.data.map((run) => (
          <RunRow key={run.id} run={run} role={project.role} />
        ))}
      </ul>
      {runs.hasNextPage ? (
        <MoreButton query={runs}>Show older runs</MoreButton>
      ) : (
        <Text size="sm" c="dimmed" ta="center">
          That is all.
        </Text>
      )}
    </>
  );
}
