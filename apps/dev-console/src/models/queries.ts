import type { OutputType } from '@review/contract';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';
import type { IconName } from '../ui/icon.tsx';

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => (await client.models.list({}, { signal })).data,
  staleTime: 60_000,
});

export const OUTPUTS: Record<OutputType, { label: string; icon: IconName }> = {
  DOCUMENT: { label: 'Document', icon: 'document' },
  IMAGE: { label: 'Image', icon: 'image' },
  VIDEO: { label: 'Video', icon: 'film' },
  '3D': { label: '3D', icon: 'box' },
};
