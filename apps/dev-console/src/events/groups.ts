/** The filters of the activity page, in display order. */
export const GROUPS = [
  'files',
  'generations',
  'versions',
  'comments',
  'folders',
  'people',
  'project',
  'webhooks',
] as const;
export type Group = (typeof GROUPS)[number];
