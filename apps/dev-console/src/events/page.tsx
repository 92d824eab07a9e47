import { Group, NativeSelect, Stack } from '@mantine/core';
import { contract } from '@review/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { usePollInterval } from '../live/use-live.ts';
import { membersQuery } from '../members/queries.ts';
import { useProject } from '../projects/project-query.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import rows from '../ui/rows.module.css';
import { ActivityRow } from './activity-row.tsx';
import { GROUPS } from './groups.ts';
import { activityQuery } from './queries.ts';

const route = getRouteApi('/console/projects/$projectId/activity');
const POLL_INTERVAL_MS = 15_000;

export function ActivityPage() {
  const { projectId } = route.useParams();
  const { about, by } = route.useSearch();
  const navigate = route.useNavigate();
  const { refusal } = useProject(projectId);
  const unreadable = refusal(contract.events.list);
  const refetchInterval = usePollInterval(projectId, POLL_INTERVAL_MS);
  const query = useInfiniteQuery({
    ...activityQuery(projectId, { group: about, person: by }),
    enabled: unreadable === null,
    refetchInterval,
  });
  const filter = (change: { about?: typeof about; by?: typeof by }) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  return (
    <Stack gap="md">
      <Group gap="sm">
        <NativeSelect
          aria-label="About"
          value={about ?? ''}
          onChange={({ target }) => filter({ about: GROUPS.find((group) => group === target.value) })}
          data={[
            { value: '', label: 'All changes' },
            ...GROUPS.map((group) => ({ value: group, label: group.charAt(0).toUpperCase() + group.slice(1) })),
          ]}
        />
        <PersonChoice projectId={projectId} chosen={by} onChoose={(person) => filter({ by: person })} />
      </Group>
      <Loaded query={query} refusal={unreadable}>
        {(changes) =>
          changes.length === 0 ? (
            <EmptyState icon="clock" title="Nothing has happened here">
              {about === undefined && by === undefined
                ? 'Changes of files, versions, comments and members are listed here for as long as the operator keeps them.'
                : 'No change matches. Choose all changes, or another person.'}
            </EmptyState>
          ) : (
            <>
              <ul className={rows.rows} aria-label="Activity, newest first">
                {changes.map((activity) => (
                  <ActivityRow key={activity.id} activity={activity} />
                ))}
              </ul>
              <MoreButton query={query}>Show older changes</MoreButton>
            </>
          )
        }
      </Loaded>
    </Stack>
  );
}

interface PersonChoiceProps {
  projectId: string;
  chosen: string | undefined;
  onChoose: (person: string | undefined) => void;
}

/** Filters by a member. Hidden if the caller may not list the members. */
function PersonChoice({ projectId, chosen, onChoose }: PersonChoiceProps) {
  const { refusal } = useProject(projectId);
  const { data: members } = useQuery({
    ...membersQuery(projectId),
    enabled: refusal(contract.members.list) === null,
  });
  if (members === undefined) return null;
  return (
    <NativeSelect
      aria-label="By"
      value={chosen ?? ''}
      onChange={({ target }) => onChoose(target.value || undefined)}
      data={[{ value: '', label: 'Everyone' }, ...members.map(({ user }) => ({ value: user.id, label: user.name }))]}
    />
  );
}
