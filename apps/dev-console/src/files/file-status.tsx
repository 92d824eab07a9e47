import { contract, type FileRecord } from '@review/contract';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { useProject } from '../projects/project-query.ts';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { StatusChoice } from '../ui/status-choice.tsx';

/** The review status of a file, which those who may set it can change here. */
export function FileStatus({ file: { id, name, status, tag, project } }: { file: FileRecord }) {
  const forbidden = useProject(project.id).refusal(contract.files.setTag);
  const setTag = useApiMutation(
    (next: FileRecord['tag']) => client.files.setTag({ params: { id }, body: { tag: next } }),
    { invalidates: [['files']] },
  );
  if (status !== 'UPLOADED') return <StatusBadge status={status} />;
  return (
    <>
      <StatusChoice of={name} current={tag} refusal={() => forbidden} mutation={setTag} />
      {setTag.isError && <ProblemNotice error={setTag.error} />}
    </>
  );
}
