import { Button } from '@mantine/core';
import { contract, type ProjectRole } from '@review/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { client } from '../api.ts';
import { fileQuery, isOpen } from '../files/queries.ts';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { Icon } from '../ui/icon.tsx';
import { againSearch } from './again.ts';
import type { Run } from './runs-query.ts';

export function useCancel(run: Run) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => client.files.cancel({ params: { id: run.id } }),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: fileQuery(run.id).queryKey }),
        queryClient.invalidateQueries({ queryKey: ['runs', run.project.id] }),
      ]),
  });
}

interface RunActionsProps {
  run: Run;
  role: ProjectRole | undefined;
  cancel: ReturnType<typeof useCancel>;
  size?: 'compact-sm' | 'sm';
}

export function RunActions({ run, role, cancel, size = 'sm' }: RunActionsProps) {
  const refusal = useRefusal();
  const navigate = useNavigate();
  return (
    <>
      {isOpen(run) && (
        <ActionButton
          size={size}
          variant="default"
          leftSection={<Icon name="stop" size={14} />}
          refusal={refusal(contract.files.cancel, role)}
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          Cancel
        </ActionButton>
      )}
      {refusal(contract.generation.generate, role) === null && (
        <Button
          size={size}
          variant="default"
          leftSection={<Icon name="repeat" size={14} />}
          onClick={() => void navigate({ to: '/generate', search: againSearch(run) })}
        >
          {size === 'sm' ? 'Make another like it' : 'Another'}
        </Button>
      )}
      {run.status === 'UPLOADED' && (
        <Button
          size={size}
          variant={size === 'sm' ? 'filled' : 'light'}
          leftSection={<Icon name="play" size={14} />}
          renderRoot={(props) => <Link {...props} to="/files/$fileId" params={{ fileId: run.id }} />}
        >
          {size === 'sm' ? 'Open and review' : 'Open'}
        </Button>
      )}
    </>
  );
}
