import { Badge, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { contract, type Project } from '@review/contract';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { maxLengthOf } from '../bounds.ts';
import { roleName, useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Page } from '../ui/page.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Time } from '../ui/time.tsx';
import classes from './list-page.module.css';
import { projectsQuery } from './project-query.ts';

const CreateProject = lazy(() => import('./create-project.tsx'));
const route = getRouteApi('/console/projects');
const SORTS = [
  { value: '', label: 'Recently changed' },
  { value: 'createdAt', label: 'Newest' },
  { value: 'name', label: 'Name' },
] as const;

export function ProjectsPage() {
  const { keyword = '', sort, create } = route.useSearch();
  const navigate = route.useNavigate();
  const refusal = useRefusal();
  const unreadable = refusal(contract.projects.list);
  const query = useInfiniteQuery({
    ...projectsQuery({ keyword, sort }),
    enabled: unreadable === null,
    placeholderData: keepPreviousData,
  });
  const openForm = (open: boolean) =>
    void navigate({ search: (now) => ({ ...now, create: open || undefined }), replace: true });

  const newProject = (
    <ActionButton
      refusal={refusal(contract.projects.create)}
      leftSection={<Icon name="plus" />}
      onClick={() => openForm(true)}
    >
      New project
    </ActionButton>
  );
  return (
    <Page title="Projects" description="Where files live and are reviewed." actions={newProject}>
      <Group mb="md" gap="sm" align="flex-end">
        <SearchField
          className={classes.search}
          label="Search projects"
          placeholder="Search by name or description"
          maxLength={maxLengthOf(contract.projects.list.body.shape.keyword)}
          keyword={keyword}
          onSearch={(words, { replace }) =>
            void navigate({ search: (now) => ({ ...now, keyword: words === '' ? undefined : words }), replace })
          }
        />
        <NativeSelect
          aria-label="Order"
          data={SORTS}
          value={sort ?? ''}
          onChange={({ target }) => {
            const chosen = SORTS.find(({ value }) => value === target.value)?.value;
            void navigate({ search: (now) => ({ ...now, sort: chosen || undefined }), replace: true });
          }}
        />
      </Group>
      <Loaded query={query} refusal={unreadable}>
        {({ pages }) => {
          const projects = pages.flatMap(({ data }) => data);
          if (projects.length === 0)
            return keyword === '' ? <NoProjects action={newProject} /> : <NoMatch words={keyword} />;
          const hasCovers = projects.some(({ thumbnailUrl }) => thumbnailUrl !== null);
          return (
            <Stack gap="md">
              <ul className={classes.grid} aria-label="Projects">
                {projects.map((project) => (
                  <ProjectCard key={project.id} project={project} hasCover={hasCovers} />
                ))}
              </ul>
              <MoreButton query={query}>Show more</MoreButton>
            </Stack>
          );
        }}
      </Loaded>
      <Suspense>
        {create && refusal(contract.projects.create) === null && <CreateProject onClose={() => openForm(false)} />}
      </Suspense>
    </Page>
  );
}

function ProjectCard({ project, hasCover }: { project: Project; hasCover: boolean }) {
  const { id, name, description, deadline, role, updatedAt, deletesAt, thumbnailUrl } = project;
  return (
    <li className={classes.card}>
      {hasCover && (
        <span className={classes.cover}>
          <Icon name="folder" size={26} />
          {thumbnailUrl !== null && <img src={thumbnailUrl} alt="" loading="lazy" />}
        </span>
      )}
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Link to="/projects/$projectId" params={{ projectId: id }} className={classes.name}>
          {name}
        </Link>
        <Badge variant="default" tt="none" fw={550} radius="sm" flex="none">
          {roleName(role)}
        </Badge>
      </Group>
      <Text dir="auto" size="sm" c="dimmed" lineClamp={2} className={classes.description}>
        {description ?? 'No description.'}
      </Text>
      <Text size="xs" c="dimmed">
        Changed <Time at={updatedAt} />
        {deadline !== null && ` · due ${deadline}`}
        {deletesAt !== null && (
          <Text span size="xs" className={classes.deleting}>
            {' '}
            · to be deleted <Time at={deletesAt} />
          </Text>
        )}
      </Text>
    </li>
  );
}

const NoProjects = ({ action }: { action: ReactNode }) => (
  <EmptyState icon="folder" title="No projects yet" action={action}>
    A project holds files in folders, the versions you send out for review, and the comments on them. You see the
    projects that you own or were added to; an access link adds you to one.
  </EmptyState>
);

const NoMatch = ({ words }: { words: string }) => (
  <EmptyState icon="search" title="Nothing matches">
    No project has “{words}” in its name or description.
  </EmptyState>
);
