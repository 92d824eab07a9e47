import { NativeSelect } from '@mantine/core';
import type { Project } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { projectQuery, recentProjectsQuery } from './project-query.ts';

/** The project that the URL names, else the one that was the most recently changed when the page opened. */
export function useChosenProject(named: string | undefined) {
  const recent = useQuery(recentProjectsQuery);
  const [fallback, setFallback] = useState<string>();
  const newest = recent.isFetching ? undefined : recent.data?.[0]?.id;
  if (fallback === undefined && newest !== undefined) setFallback(newest);
  const id = named ?? fallback;
  const listed = recent.data?.find((project) => project.id === id);
  const other = useQuery({
    ...projectQuery(id ?? ''),
    enabled: id !== undefined && recent.data !== undefined && listed === undefined,
  });
  if (named === undefined && other.isError && fallback !== newest) setFallback(newest);
  const chosen = listed ?? other.data;
  const offered = chosen === undefined || listed !== undefined ? (recent.data ?? []) : [chosen, ...(recent.data ?? [])];
  const isPending = recent.isPending || other.isLoading || (id === undefined && recent.isFetching);
  return { chosen, offered, isPending, error: recent.error ?? other.error };
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
