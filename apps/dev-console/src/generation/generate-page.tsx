import { Skeleton } from '@mantine/core';
import { contract } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { modelsQuery } from '../models/queries.ts';
import { useChosenProject } from '../projects/project-choice.tsx';
import { useRefusal } from '../session/access.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { GenerateForm } from './generate-form.tsx';

const route = getRouteApi('/console/generate');

export function GeneratePage() {
  const { project } = route.useSearch();
  const refusal = useRefusal();
  const forbidden = refusal(contract.generation.generate) ?? refusal(contract.projects.list);
  return (
    <Page
      title="Generate"
      description="A document, an image, a video or a 3D file, made by a model from what you write."
      wide
    >
      {forbidden === null ? <Form project={project} /> : <ForbiddenHint reason={forbidden} />}
    </Page>
  );
}

function Form({ project }: { project: string | undefined }) {
  const { chosen, offered, isPending, error } = useChosenProject(project);
  const models = useQuery(modelsQuery);
  const failure = error ?? models.error;
  if (failure !== null) return <ProblemNotice error={failure} />;
  if (isPending || models.data === undefined) return <Skeleton h={480} />;
  if (chosen === undefined) {
    return (
      <EmptyState icon="folder" title="You are not a member of a project yet">
        Generated files belong to a project. Create one, or ask for an access link.
      </EmptyState>
    );
  }
  return <GenerateForm project={chosen} offered={offered} models={models.data} />;
}
