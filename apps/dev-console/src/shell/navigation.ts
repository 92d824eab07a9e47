import type { LinkProps } from '@tanstack/react-router';
import type { IconName } from '../ui/icon.tsx';

interface Place {
  label: string;
  to: NonNullable<LinkProps['to']>;
  icon: IconName;
  /** Further search words for the command palette. */
  keywords: string;
}

/** The entries of the navigation and the command palette, in display order. */
export const NAVIGATION: readonly Place[] = [
  { label: 'Generate', to: '/generate', icon: 'spark', keywords: 'create new model prompt image video document 3d' },
  { label: 'Runs', to: '/runs', icon: 'pulse', keywords: 'generations jobs status queue' },
  {
    label: 'Projects',
    to: '/projects',
    icon: 'folder',
    keywords: 'files folders versions comments members links upload',
  },
  { label: 'Review', to: '/review', icon: 'check', keywords: 'needs waiting approve decide versions' },
  { label: 'Skills', to: '/skills', icon: 'box', keywords: 'markdown instructions agent versions' },
  { label: 'People', to: '/people', icon: 'people', keywords: 'members users workspace address email id' },
  { label: 'Health', to: '/health', icon: 'heart', keywords: 'status rate limits workers models scopes' },
];
