import { type ModelRecord, VideoConfigs } from '@review/contract';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Draft } from './draft.ts';

const route = getRouteApi('/console/generate');
const DEBOUNCE_MS = 300;

/** The draft of the form, read from the URL and written back to it, with its project, when typing pauses. */
export function useDraft(project: string, models: readonly ModelRecord[]) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const router = useRouter();
  const [draft, setDraft] = useState((): Draft => {
    const named = models.find(({ id }) => id === search.model);
    const type = named?.outputType ?? search.type ?? 'IMAGE';
    return {
      type,
      model: named?.id ?? models.find(({ outputType }) => outputType === type)?.id ?? '',
      prompt: search.prompt ?? '',
      folder: search.folder ?? null,
      attachments: search.attachments ?? [],
      configs: VideoConfigs.catch({}).parse(search.configs),
    };
  });
  useEffect(() => {
    const { folder, attachments, prompt, configs, ...rest } = draft;
    const described = {
      ...rest,
      project,
      ...(prompt !== '' && { prompt }),
      ...(folder !== null && { folder }),
      ...(attachments.length > 0 && { attachments: [...attachments] }),
      ...(Object.keys(configs).length > 0 && { configs }),
    };
    const timer = setTimeout(() => {
      // The form was submitted meanwhile and the page is navigating to the run.
      if (router.latestLocation.pathname !== '/generate') return;
      const kept = ({ results }: { results?: string[] }) => ({ ...(results && { results }) });
      void navigate({ search: (before) => ({ ...kept(before), ...described }), replace: true });
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [draft, project, navigate, router]);
  return [draft, setDraft] as const;
}
