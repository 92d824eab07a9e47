import { Anchor, Skeleton, Stack, Text, Title } from '@mantine/core';
import { contract, type FileDetails } from '@review/contract';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { client } from '../api.ts';
import { useLiveFile } from '../files/queries.ts';
import { projectQuery } from '../projects/project-query.ts';
import { useRefusal } from '../session/access.ts';
import { errorToShow } from '../ui/error-to-show.ts';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import notice from '../ui/notice.module.css';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { RunActions, useCancel } from './run-actions.tsx';
import { RunFacts } from './run-facts.tsx';
import classes from './run-page.module.css';
import { RunStage } from './run-stage.tsx';
import { isRun, type Run } from './runs-query.ts';
import { Timeline } from './timeline.tsx';

const route = getRouteApi('/console/runs/$fileId');

const detailsQuery = (id: string, updatedAt: string) =>
  queryOptions({
    // The key contains `updatedAt`, because every change of the file can add steps.
    queryKey: ['files', id, 'generation', updatedAt],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await client.files.getGeneration({ params: { id } }, { signal })).data,
  });

export function RunPage() {
  const { fileId } = route.useParams();
  const refusal = useRefusal();
  const forbidden = refusal(contract.files.get);
  const file = useLiveFile(fileId, forbidden === null);
  if (forbidden !== null) return <Framed title="Run" content={<ForbiddenHint reason={forbidden} />} />;
  const error = errorToShow(file);
  if (error !== null) return <Framed title="Run" content={<ProblemNotice error={error} />} />;
  if (file.data === undefined) return <Framed title="Run" content={<Skeleton h={320} />} />;
  if (!isRun(file.data)) {
    return (
      <Framed
        title={file.data.name}
        content={
          <Text>
            This file was uploaded, not generated.{' '}
            <Anchor renderRoot={(props) => <Link {...props} to="/files/$fileId" params={{ fileId }} />}>Open it</Anchor>
          </Text>
        }
      />
    );
  }
  return <RunDetails run={file.data} />;
}

const Framed = ({ title, content }: { title: string; content: React.ReactNode }) => (
  <Page title={title} trail={<Link to="/runs">Runs</Link>}>
    {content}
  </Page>
);

function RunDetails({ run }: { run: FileDetails & Run }) {
  const { generation } = run;
  const refusal = useRefusal();
  const project = useQuery({ ...projectQuery(run.project.id), enabled: refusal(contract.projects.get) === null });
  const role = project.data?.role;
  const forbidden = refusal(contract.files.getGeneration, role);
  const details = useQuery({
    ...detailsQuery(run.id, run.updatedAt),
    enabled: forbidden === null && !project.isLoading,
  });
  const cancel = useCancel(run);
  const navigate = route.useNavigate();

  return (
    <Page
      title={run.name}
      trail={
        <Link to="/runs" search={{ project: run.project.id }}>
          Runs{project.data === undefined ? '' : ` of ${project.data.name}`}
        </Link>
      }
      description={<StatusBadge status={generation.status} />}
      actions={<RunActions run={run} role={role} cancel={cancel} />}
    >
      <div className={classes.columns}>
        <Stack gap="lg">
          <RunStage
            run={run}
            role={role}
            steps={details.data?.steps}
            onRetried={(id) => void navigate({ to: '/runs/$fileId', params: { fileId: id } })}
          />
          {cancel.isError && <ProblemNotice error={cancel.error} />}
          {generation.warnings.map((warning) => (
            <div key={warning} className={notice.notice} data-kind="warning" role="note">
              <Text size="sm">{warning}</Text>
            </div>
          ))}
          {generation.prompt !== null && (
            <section className="card" aria-labelledby="prompt">
              <Title order={2} id="prompt" mb="xs">
                Prompt
              </Title>
              <Text dir="auto" className={classes.prompt}>
                {generation.prompt}
              </Text>
            </section>
          )}
          {forbidden === null && (
            <details className="card">
              <summary className={classes.summary}>
                <Title order={2}>Timeline</Title>
              </summary>
              {details.isError && <ProblemNotice error={details.error} onRetry={() => void details.refetch()} />}
              {details.data !== undefined && details.data.steps.length > 0 && <Timeline steps={details.data.steps} />}
              {details.data?.steps.length === 0 && <Text c="dimmed">No step has ended yet.</Text>}
            </details>
          )}
        </Stack>
        <aside className="card">
          <RunFacts run={run} details={details.data} />
        </aside>
      </div>
    </Page>
  );
}
