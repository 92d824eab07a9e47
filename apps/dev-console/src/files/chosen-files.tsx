import { Button, Group, Text } from '@mantine/core';
import { contract } from '@review/contract';
import { useNavigate } from '@tanstack/react-router';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import classes from './chosen-files.module.css';

interface ChosenFilesProps {
  projectId: string;
  chosen: readonly string[];
  refusal: ProjectRefusal;
  onNone: () => void;
}

/** The actions for the selected files. */
export function ChosenFiles({ projectId, chosen, refusal, onNone }: ChosenFilesProps) {
  const navigate = useNavigate();
  const [left, right] = chosen;
  return (
    <Group className={classes.bar} gap="xs" role="group" aria-label="With the chosen files">
      <Text size="sm" fw={550} className={classes.count} role="status">
        {chosen.length} chosen
      </Text>
      <ActionButton
        size="xs"
        refusal={chosen.length === 2 ? refusal(contract.files.download) : 'Choose exactly two files to compare them.'}
        onClick={() => {
          if (left !== undefined && right !== undefined) void navigate({ to: '/compare', search: { left, right } });
        }}
      >
        Compare
      </ActionButton>
      <ActionButton
        size="xs"
        variant="default"
        refusal={refusal(contract.versions.create)}
        onClick={() =>
          void navigate({
            to: '/projects/$projectId/versions',
            params: { projectId },
            search: { create: [...chosen] },
          })
        }
      >
        New version
      </ActionButton>
      <Button size="xs" variant="subtle" color="gray" onClick={onNone}>
        Choose none
      </Button>
    </Group>
  );
}
