import type { DragEvent } from 'react';

const TYPE = 'application/x-review-files';

export const dragFiles = (event: DragEvent, ids: readonly string[]): void => {
  event.dataTransfer.setData(TYPE, JSON.stringify(ids));
  event.dataTransfer.effectAllowed = 'move';
};

/** Whether files of the list are dragged, and not files of the computer. */
export const carriesFiles = (event: DragEvent): boolean => event.dataTransfer.types.includes(TYPE);

export function droppedFiles(event: DragEvent): string[] {
  const ids: unknown = JSON.parse(event.dataTransfer.getData(TYPE) || '[]');
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
