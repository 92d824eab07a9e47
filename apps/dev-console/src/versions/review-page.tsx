import { Button, Group, Stack, Text } from '@mantine/core';
import { contract, type ProjectVersion, type ReviewStatus } from '@review/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { statusLabel } from '../ui/status-badge.tsx';
import { Time } from '../ui/time.tsx';
import { reviewQuery } from './queries.ts';

interface Decision {
  version: ProjectVersion;
  status: ReviewStatus;
}

/** What waits for the caller's decision, in all of their projects. */
export function ReviewPage() {
  const unreadable = useRefusal()(contract.versions.listMine);
  const query = useInfiniteQuery({ ...reviewQuery, enabled: unreadable === null });
  const [last, setLast] = useState<Decision | null>(null);
  const decide = useApiMutation(
    async (decision: Decision) => {
      const { version, status } = decision;
      await client.versions.setStatus({ params: { id: version.id }, body: { status } });
      return decision;
    },
    {
      invalidates: [['versions']],
      onDone: (decision) => setLast(decision.status === 'NEED_REVIEW' ? null : decision),
    },
  );
  return (
    <Page title="Needs your review" description="The versions that wait for a decision, in all of your projects.">
      <Stack gap="md">
        <div role="status">
          {last !== null && (
            <Group gap="xs">
              <Text size="sm">
                {last.version.name}: {statusLabel(last.status)}.
              </Text>
              <Button
                size="compact-xs"
                variant="subtle"
                onClick={() => decide.mutate({ version: last.version, status: 'NEED_REVIEW' })}
              >
                Undo
              </Button>
            </Group>
          )}
        </div>
        {decide.isError && <ProblemNotice error={decide.error} />}
        <Loaded query={query} refusal={unreadable}>
          {(versions) =>
            versions.length === 0 ? (
              <EmptyState icon="check" title="Nothing waits for you">
                When someone sends out a version for review in one of <Link to="/projects">your projects</Link>, it is
                listed here.
              </EmptyState>
            ) : (
              <>
                <ul className={rows.rows} aria-label="Versions to review">
                  {versions.map((version) => (
                    <WaitingVersion
                      key={version.id}
                      version={version}
                      isBusy={decide.isPending}
                      onDecide={(status) => decide.mutate({ version, status })}
                    />
                  ))}
                </ul>
                <MoreButton query={query}>Show older versions</MoreButton>
              </>
            )
          }
        </Loaded>
      </Stack>
    </Page>
  );
}

interface WaitingVersionProps {
  version: ProjectVersion;
  isBusy: boolean;
  onDecide: (status: ReviewStatus) => void;
}

function WaitingVersion({ version, isBusy, onDecide }: WaitingVersionProps) {
  const { id, name, description, project, role, files, createdAt } = version;
  const forbidden = useRefusal()(contract.versions.setStatus, role);
  const refusal = forbidden ?? (isBusy ? 'Another decision is being stored.' : null);
  const params = { projectId: project.id };
  return (
    <li className={rows.row}>
      <div className={rows.main}>
        <Link
          to="/projects/$projectId/versions/$versionId"
          params={{ ...params, versionId: id }}
          className={rows.name}
          dir="auto"
        >
          {name}
        </Link>
        <div className={rows.detail}>
          <Link to="/projects/$projectId" params={params}>
            {project.name}
          </Link>{' '}
          · {files.count === 1 ? '1 file' : `${files.count} files`} · <Time at={createdAt} />
          {description !== null && ` · ${description}`}
        </div>
      </div>
      <div className={rows.side}>
        <ActionButton
          size="compact-sm"
          variant="default"
          refusal={refusal}
          aria-label={`Needs edits: ${name}`}
          onClick={() => onDecide('NEED_EDIT')}
        >
          Needs edits
        </ActionButton>
        <ActionButton
          size="compact-sm"
          refusal={refusal}
          aria-label={`Approve ${name}`}
          onClick={() => onDecide('APPROVED')}
        >
          Approve
        </ActionButton>
      </div>
    </li>
  );
}
