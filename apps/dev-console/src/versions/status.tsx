import { Stack } from '@mantine/core';
import { contract, LEADS, type ReviewStatus, type Version } from '@review/contract';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { useProject } from '../projects/project-query.ts';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusChoice } from '../ui/status-choice.tsx';

const CLOSED_STAYS = 'This version is closed; only an owner or a manager can reopen it.';

/** Sets the status of a version. Restricted reviewers may not; only owners and managers may reopen a closed version. */
export function VersionStatus({ version }: { version: Version }) {
  const { project, refusal } = useProject(version.project.id);
  const mutation = useApiMutation(
    (status: ReviewStatus) => client.versions.setStatus({ params: { id: version.id }, body: { status } }),
    { invalidates: [['versions']] },
  );
  const leads = project === undefined || LEADS.some((role) => role === project.role);
  const forbidden = refusal(contract.versions.setStatus);
  return (
    <Stack gap="xs" align="flex-end">
      <StatusChoice
        of={version.name}
        current={version.status}
        refusal={() => forbidden ?? (version.status === 'CLOSED' && !leads ? CLOSED_STAYS : null)}
        mutation={mutation}
      />
      {mutation.isError && <ProblemNotice error={mutation.error} />}
    </Stack>
  );
}
