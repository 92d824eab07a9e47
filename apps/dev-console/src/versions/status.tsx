import { Stack } from '@mantine/core';
import { contract, LEADS, type ReviewStatus, type Version } from '@review/contract';
import { client } from '../api.ts';
import { useChange } from '../change.ts';
import { useProject } from '../projects/project-query.ts';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusChoice } from '../ui/status-choice.tsx';

const CLOSED_STAYS = 'This version is closed; only an owner or a manager opens it again.';

/** How far a version has come. Everybody but restricted reviewers sets it; leaving Closed is for owners and managers. */
export function VersionStatus({ version }: { version: Version }) {
  const { project, refusal } = useProject(version.project.id);
  const change = useChange(
    (status: ReviewStatus) => client.versions.setStatus({ params: { id: version.id }, body: { status } }),
    { touches: [['versions']] },
  );
  const leads = project === undefined || LEADS.some((role) => role === project.role);
  const forbidden = refusal(contract.versions.setStatus);
  return (
    <Stack gap="xs" align="flex-end">
      <StatusChoice
        of={version.name}
        current={version.status}
        refusal={() => forbidden ?? (version.status === 'CLOSED' && !leads ? CLOSED_STAYS : null)}
        change={change}
      />
      {change.isError && <ProblemNotice error={change.error} />}
    </Stack>
  );
}
