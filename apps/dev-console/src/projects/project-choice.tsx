import { NativeSelect } from '@mantine/core';
import type { Project } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { projectQuery, recentProjectsQuery } from './project-query.ts';

/** The project that the URL names, else the most recently changed one. */
export function useChosenProject(id: string | undefined) {
  const recent = useQuery(recentProjectsQuery);
  const listed = id === undefined ? recent.data?.[0] : recent.data?.find((project) => project.id === id);
  const other = useQuery({
    ...projectQuery(id ?? ''),
    enabled: id !== undefined && recent.data !== undefined && listed === undefined,
  });
  const chosen = listed ?? (id === undefined ? undefined : other.data);
  const offered = chosen === undefined || listed !== undefined ? (recent.data ?? []) : [chosen, ...(recent.data ?? [])];
  return { chosen, offered, isPending: recent.isPending || other.isLoading, error: recent.error ?? other.error };
}

interface ProjectChoiceProps {
  chosen: Project | undefined;
  offered: readonly Project[];
  onChoose: (id: string) => void;
}

export function ProjectChoice({ chosen, offered, onChoose }: ProjectChoiceProps) {
  return (
    <NativeSelect
      label="Project"
      value={chosen?.id ?? ''}
      onChange={(event) => onChoose(event.target.value)}
      data={offered.map(({ id, name }) => ({ value: id, label: name }))}
    />
  );
}
