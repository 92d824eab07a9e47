import { Anchor, Progress, Skeleton, Stack, Text, Title } from '@mantine/core';
import { contract } from '@review/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { client } from '../api.ts';
import { useLiveFile } from '../files/queries.ts';
import { projectQuery } from '../projects/project-query.ts';
import { useRefusal } from '../session/access.ts';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import notice from '../ui/notice.module.css';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { ERROR_ADVICE } from './error-advice.ts';
import { RunActions, useCancel } from './run-actions.tsx';
import { RunFacts } from './run-facts.tsx';
import classes from './run-page.module.css';
import { isRun, type Run } from './runs-query.ts';
import { Timeline } from './timeline.tsx';
import { WAITING_REASONS } from './waiting.ts';

const route = getRouteApi('/console/runs/$fileId');

const detailsQuery = (id: string, updatedAt: string) =>
  queryOptions({
    // The key contains `updatedAt`, because every change of the file can add steps.
    queryKey: ['files', id, 'generation', updatedAt],
    queryFn: async ({ signal }) => (await client.files.getGeneration({ params: { id } }, { signal })).data,
  });

export function RunPage() {
  const { fileId } = route.useParams();
  const refusal = useRefusal();
  const forbidden = refusal(contract.files.get);
  const file = useLiveFile(fileId, forbidden === null);
  if (forbidden !== null) return <Framed title="Run" content={<ForbiddenHint reason={forbidden} />} />;
  if (file.isError) return <Framed title="Run" content={<ProblemNotice error={file.error} />} />;
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

function RunDetails({ run }: { run: Run }) {
  const { generation } = run;
  const refusal = useRefusal();
  const project = useQuery({ ...projectQuery(run.project.id), enabled: refusal(contract.projects.get) === null });
  const role = project.data?.role;
  const forbidden = refusal(contract.files.getGeneration, role);
  const details = useQuery({ ...detailsQuery(run.id, run.updatedAt), enabled: forbidden === null });
  const cancel = useCancel(run);
  const { error } = generation;

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
          {generation.status === 'RUNNING' && (
            <div>
              <Progress value={generation.progress * 100} aria-label="Progress" />
              <Text size="sm" c="dimmed" mt={4} className="numbers">
                {Math.round(generation.progress * 100)} %
              </Text>
            </div>
          )}
          {generation.waitingFor !== null && <Text c="dimmed">{WAITING_REASONS[generation.waitingFor]}</Text>}
          {cancel.isError && <ProblemNotice error={cancel.error} />}
          {error !== null && (
            <div className={notice.notice} data-kind="problem" role="note">
              <Text fw={600}>{error.message}</Text>
              <Text size="sm" c="dimmed" mt={4}>
                {ERROR_ADVICE[error.code]}
              </Text>
              <Text size="xs" c="dimmed" mt={6} className="mono">
                {error.code}
              </Text>
            </div>
          )}
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
              <Text className={classes.prompt}>{generation.prompt}</Text>
            </section>
          )}
          <section className="card" aria-labelledby="timeline">
            <Title order={2} id="timeline" mb="md">
              Timeline
            </Title>
            {forbidden !== null && <ForbiddenHint reason={forbidden} />}
            {details.isError && <ProblemNotice error={details.error} />}
            {details.data !== undefined && details.data.steps.length > 0 && <Timeline steps={details.data.steps} />}
            {details.data?.steps.length === 0 && <Text c="dimmed">No step has begun yet.</Text>}
          </section>
        </Stack>
        <aside className="card">
          <RunFacts run={run} details={details.data} />
        </aside>
      </div>
    </Page>
  );
}
