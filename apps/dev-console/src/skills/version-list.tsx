import { ActionIcon, Badge, Group, Menu, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { contract, type SkillDetails } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ActionItem } from '../ui/action-item.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { Time } from '../ui/time.tsx';

interface VersionListProps {
  skill: SkillDetails;
  shownId: string | undefined;
  onShow: (id: string) => void;
  onWrite: (from: string | undefined) => void;
}

export function VersionList({ skill, shownId, onShow, onWrite }: VersionListProps) {
  const refusal = useRefusal();
  const [removing, setRemoving] = useState<SkillDetails['versions'][number] | null>(null);
  const invalidates = [['skills']];
  const setDefault = useApiMutation(
    (id: string) => client.skills.update({ params: { id: skill.id }, body: { default: { id } } }),
    { invalidates },
  );
  const remove = useApiMutation((id: string) => client.skills.deleteVersion({ params: { id } }), {
    invalidates,
    onDone: () => setRemoving(null),
  });
  const unpublishable = refusal(contract.skills.publish);
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>Versions</Title>
        <ActionButton size="xs" refusal={unpublishable} onClick={() => onWrite(shownId)}>
          New version
        </ActionButton>
      </Group>
      {setDefault.isError && <ProblemNotice error={setDefault.error} />}
      {skill.versions.length === 0 ? (
        <Text size="sm" c="dimmed">
          None yet.
        </Text>
      ) : (
        <ul className={rows.rows} aria-label="Versions of the skill">
          {skill.versions.map((version) => (
            <li key={version.id} className={rows.row} data-chosen={version.id === shownId || undefined}>
              <UnstyledButton
                className={rows.main}
                aria-current={version.id === shownId || undefined}
                onClick={() => onShow(version.id)}
              >
                <Group gap={6}>
                  <span className={rows.name}>Version {version.version}</span>
                  {version.isDefault && (
                    <Badge size="sm" variant="light" tt="none" radius="sm">
                      default
                    </Badge>
                  )}
                </Group>
                <div className={rows.detail}>
                  <Time at={version.createdAt} />
                  {version.note !== null && ` · ${version.note}`}
                </div>
              </UnstyledButton>
              <Menu position="bottom-end" withinPortal>
                <Menu.Target>
                  <ActionIcon variant="subtle" color="gray" aria-label={`Actions for version ${version.version}`}>
                    <Icon name="more" />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <ActionItem
                    icon="check"
                    refusal={refusal(contract.skills.update) ?? (version.isDefault ? 'It is the default.' : null)}
                    onClick={() => setDefault.mutate(version.id)}
                  >
                    Make it the default
                  </ActionItem>
                  <ActionItem icon="pencil" refusal={unpublishable} onClick={() => onWrite(version.id)}>
                    Write a new one from it
                  </ActionItem>
                  <ActionItem
                    icon="trash"
                    danger
                    refusal={
                      refusal(contract.skills.deleteVersion) ??
                      (version.isDefault ? 'The default version stays; choose another default first.' : null)
                    }
                    onClick={() => setRemoving(version)}
                  >
                    Delete
                  </ActionItem>
                </Menu.Dropdown>
              </Menu>
            </li>
          ))}
        </ul>
      )}
      {removing !== null && (
        <ConfirmDialog
          title={`Delete version ${removing.version}?`}
          submit="Delete version"
          mutation={remove}
          onConfirm={() => remove.mutate(removing.id)}
          onClose={() => setRemoving(null)}
        >
          This cannot be undone.
        </ConfirmDialog>
      )}
    </Stack>
  );
}
