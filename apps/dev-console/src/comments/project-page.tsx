import { NativeSelect, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { ThreadList } from './thread-list.tsx';

const route = getRouteApi('/console/projects/$projectId/comments');

export function ProjectCommentsPage() {
  const { projectId } = route.useParams();
  const { show, thread } = route.useSearch();
  const navigate = route.useNavigate();
  const context = {
    projectId,
    allowRestricted: true,
    on: { project: projectId },
    anchorKind: null,
    thread,
    onThread: (next: string | null) =>
      void navigate({ search: (now) => ({ ...now, thread: next ?? undefined }), replace: true, resetScroll: false }),
  };
  return (
    <Stack gap="md" maw="52rem">
      <NativeSelect
        aria-label="Which comments"
        w={180}
        value={show ?? ''}
        onChange={({ target }) =>
          void navigate({
            search: target.value === 'open' || target.value === 'resolved' ? { show: target.value } : {},
            replace: true,
          })
        }
        data={[
          { value: '', label: 'All comments' },
          { value: 'open', label: 'Open' },
          { value: 'resolved', label: 'Resolved' },
        ]}
      />
      <ThreadList
        key={`${projectId} ${show}`}
        context={context}
        {...(show !== undefined && { resolved: show === 'resolved' })}
      />
    </Stack>
  );
}
