import { Badge, Text } from '@mantine/core';
import { contract } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useLocation } from '@tanstack/react-router';
import { useLive } from '../live/use-live.ts';
import { roleName, useRefusal } from '../session/access.ts';
import { errorToShow } from '../ui/error-to-show.ts';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Time } from '../ui/time.tsx';
import classes from './project-frame.module.css';
import { projectQuery } from './project-query.ts';

const route = getRouteApi('/console/projects/$projectId');
const ROOMS = [
  { label: 'Files', to: '/projects/$projectId', exact: true },
  { label: 'Versions', to: '/projects/$projectId/versions', exact: false },
  { label: 'Comments', to: '/projects/$projectId/comments', exact: false },
  { label: 'Activity', to: '/projects/$projectId/activity', exact: false },
  { label: 'Members', to: '/projects/$projectId/members', exact: false },
  { label: 'Access links', to: '/projects/$projectId/links', exact: false, reads: contract.accessLinks.list },
  { label: 'Webhooks', to: '/projects/$projectId/webhooks', exact: false, reads: contract.webhooks.list },
  { label: 'Settings', to: '/projects/$projectId/settings', exact: false },
] as const;

/** Scrolls the current tab into view, because a phone does not show all tabs. */
const showCurrent = (rooms: HTMLElement | null) =>
  rooms?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });

/** The header and tabs of all pages of a project. */
export function ProjectFrame() {
  const { projectId } = route.useParams();
  const { pathname } = useLocation();
  useLive(projectId);
  const refusal = useRefusal();
  const unreadable = refusal(contract.projects.get);
  const query = useQuery({ ...projectQuery(projectId), enabled: unreadable === null });
  const project = query.data;
  const trail = <Link to="/projects">Projects</Link>;
  const error = errorToShow(query);
  if (error !== null) {
    return (
      <Page title="Project" trail={trail}>
        <ProblemNotice error={error} onRetry={() => void query.refetch()} />
      </Page>
    );
  }
  return (
    <Page
      title={project?.name ?? (unreadable === null ? null : 'A project')}
      trail={trail}
      description={unreadable ?? project?.description ?? undefined}
      actions={
        project && (
          <>
            {project.deadline !== null && (
              <Text size="sm" c="dimmed">
                due {project.deadline}
              </Text>
            )}
            <Badge variant="default" tt="none" fw={550} radius="sm" flex="none" title="Your role in this project">
              {roleName(project.role)}
            </Badge>
          </>
        )
      }
    >
      {project?.deletesAt != null && (
        <div role="note" className={classes.deleting}>
          <Text size="sm">
            This project and all its files will be deleted <Time at={project.deletesAt} />. Until then it can be read
            but not changed.{' '}
            {refusal(contract.projects.cancelDelete, project.role) === null ? (
              <>
                You can undo the deletion in the{' '}
                <Link to="/projects/$projectId/settings" params={{ projectId }}>
                  settings
                </Link>
                .
              </>
            ) : (
              'An owner can undo the deletion.'
            )}
          </Text>
        </div>
      )}
      <nav ref={showCurrent} key={pathname} className={classes.rooms} aria-label="Parts of the project">
        {ROOMS.filter((room) => !('reads' in room) || refusal(room.reads, project?.role) === null).map(
          ({ label, to, exact }) => (
            <Link
              key={to}
              to={to}
              params={{ projectId }}
              className={classes.room}
              activeOptions={{ exact, includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {label}
            </Link>
          ),
        )}
      </nav>
      <Outlet />
    </Page>
  );
}
