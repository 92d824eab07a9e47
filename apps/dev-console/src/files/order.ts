/** The orders of files beside newest first. */
export const FILE_ORDERS = ['oldest', 'name'] as const;
export type FileOrder = (typeof FILE_ORDERS)[number];

export const sortOf = (order: FileOrder) =>
  ({ type: order === 'name' ? 'name' : 'createdAt', direction: 'asc' }) as const;
