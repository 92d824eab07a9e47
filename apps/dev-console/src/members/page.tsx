import { ActionIcon, Avatar, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { contract, PROJECT_ROLES, type Project, type ProjectMember, type ProjectRole } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { useProject } from '../projects/project-query.ts';
import { roleName } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { WithHint } from '../ui/with-hint.tsx';
import { AddMembers } from './add-members.tsx';
import { membersQuery } from './queries.ts';

const route = getRouteApi('/console/projects/$projectId/members');

export function MembersPage() {
  const { projectId } = route.useParams();
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const { project, refusal } = useProject(projectId);
  const unreadable = refusal(contract.members.list);
  const query = useQuery({ ...membersQuery(projectId), enabled: unreadable === null });
  const form = (open: boolean) => void navigate({ search: open ? { add: true } : {}, replace: true });
  const unaddable = refusal(contract.members.add);
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text c="dimmed" size="sm" maw="36rem">
          Who works on this project, and what they may do. Reviewers read and comment; restricted reviewers see only
          what is marked for them.
        </Text>
        <ActionButton refusal={unaddable} leftSection={<Icon name="plus" size={16} />} onClick={() => form(true)}>
          Add members
        </ActionButton>
      </Group>
      <Loaded query={query} refusal={unreadable}>
        {(members) => (
          <ul className={rows.rows} aria-label="Members">
            {members.map((member) => (
              <MemberRow
                key={member.id}
                member={member}
                project={project}
                refusal={refusal(contract.members.update)}
                isLastOwner={
                  member.role === 'PROJECT_OWNER' && members.filter(({ role }) => role === 'PROJECT_OWNER').length === 1
                }
              />
            ))}
          </ul>
        )}
      </Loaded>
      {add && unaddable === null && query.data !== undefined && (
        <AddMembers projectId={projectId} members={query.data} onClose={() => form(false)} />
      )}
    </Stack>
  );
}

interface MemberRowProps {
  member: ProjectMember;
  project: Project | undefined;
  refusal: string | null;
  isLastOwner: boolean;
}

function MemberRow({ member, project, refusal, isLastOwner }: MemberRowProps) {
  const { id, user, role } = member;
  const [removing, setRemoving] = useState(false);
  const invalidates = [['members'], ['projects']];
  const setRole = useApiMutation(
    (next: ProjectRole) => client.members.update({ params: { id }, body: { role: next } }),
    {
      invalidates,
    },
  );
  const remove = useApiMutation(() => client.members.remove({ params: { id } }), {
    invalidates,
    onDone: () => setRemoving(false),
  });
  const isOwner = project === undefined || project.role === 'PROJECT_OWNER';
  const forbidden =
    refusal ??
    (role === 'PROJECT_OWNER' && !isOwner ? 'Only a project owner can change or remove an owner.' : null) ??
    (isLastOwner ? 'A project needs at least one owner: make another member an owner first.' : null);
  const offered = PROJECT_ROLES.filter((each) => isOwner || each !== 'PROJECT_OWNER' || each === role);
  return (
    <li className={rows.row}>
      <Avatar src={user.avatarUrl} name={user.name} color="gray" alt="" size="sm" />
      <div className={rows.main}>
        <span className={rows.name}>{user.name}</span>
        <div className={rows.detail}>{user.email}</div>
        {setRole.isError && <ProblemNotice error={setRole.error} />}
      </div>
      <div className={rows.side}>
        {refusal !== null ? (
          <Text size="sm" c="dimmed">
            {roleName(role)}
          </Text>
        ) : (
          <>
            <WithHint hint={forbidden}>
              <NativeSelect
                size="xs"
                aria-label={`Role of ${user.name}`}
                disabled={forbidden !== null || setRole.isPending}
                value={setRole.isPending ? setRole.variables : role}
                onChange={({ target }) => {
                  const next = PROJECT_ROLES.find((each) => each === target.value);
                  if (next !== undefined) setRole.mutate(next);
                }}
                data={offered.map((each) => ({ value: each, label: roleName(each) }))}
              />
            </WithHint>
            <WithHint hint={forbidden}>
              <ActionIcon
                variant={forbidden === null ? 'subtle' : 'transparent'}
                color="gray"
                aria-label={`Remove ${user.name}`}
                disabled={forbidden !== null}
                onClick={() => setRemoving(true)}
              >
                <Icon name="cross" />
              </ActionIcon>
            </WithHint>
          </>
        )}
      </div>
      {removing && (
        <ConfirmDialog
          title={`Remove ${user.name}?`}
          submit="Remove"
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={() => setRemoving(false)}
        >
          They no longer see this project. What they wrote and uploaded stays.
        </ConfirmDialog>
      )}
    </li>
  );
}
