import { Checkbox, NativeSelect, Stack, Text } from '@mantine/core';
import { contract, PROJECT_ROLES, type ProjectMember } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { roleName, useRefusal } from '../session/access.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { workspaceMembersQuery } from './queries.ts';

const ROLES = PROJECT_ROLES.filter((role) => role !== 'PROJECT_OWNER');

interface AddMembersProps {
  projectId: string;
  members: readonly ProjectMember[];
  onClose: () => void;
}

/** Adds users of the workspace to the project. */
export function AddMembers({ projectId, members, onClose }: AddMembersProps) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [role, setRole] = useState<(typeof ROLES)[number]>('PROJECT_MEMBER');
  const unreadable = useRefusal()(contract.members.listWorkspace);
  const people = useQuery({ ...workspaceMembersQuery, enabled: unreadable === null });
  const add = useApiMutation(
    () =>
      client.members.add({
        params: { id: projectId },
        body: { members: chosen.map((id) => ({ user: { id }, role })) },
      }),
    { invalidates: [['members', projectId]], onDone: onClose },
  );
  return (
    <FormDialog
      title="Add members"
      submit={chosen.length > 1 ? `Add ${chosen.length} people` : 'Add'}
      mutation={add}
      missing={chosen.length === 0 ? 'Choose at least one person.' : null}
      onSubmit={add.mutate}
      onClose={onClose}
    >
      <NativeSelect
        label="Role"
        value={role}
        onChange={({ target }) => setRole(ROLES.find((each) => each === target.value) ?? role)}
        data={ROLES.map((each) => ({ value: each, label: roleName(each) }))}
      />
      <Loaded query={people} refusal={unreadable}>
        {(all) => {
          const others = all.filter(({ user }) => members.every((member) => member.user.id !== user.id));
          return others.length === 0 ? (
            <Text size="sm" c="dimmed">
              All users of the workspace are members already. The operator adds users to the workspace.
            </Text>
          ) : (
            <Checkbox.Group label="People of the workspace" value={chosen} onChange={setChosen}>
              <Stack gap={8} mt="xs" mah="40vh" style={{ overflow: 'auto' }}>
                {others.map(({ user }) => (
                  <Checkbox key={user.id} value={user.id} label={user.name} description={user.email} />
                ))}
              </Stack>
            </Checkbox.Group>
          );
        }}
      </Loaded>
    </FormDialog>
  );
}
