import { FileId } from '@review/contract';
import type { DragEvent } from 'react';

const LINK = 'text/uri-list';

export const carriesAttachment = ({ dataTransfer }: DragEvent): boolean =>
  dataTransfer.types.includes('Files') || dataTransfer.types.includes(LINK);

/** Makes a dragged element carry a file of the service, as links to its page do. */
export const carryFile = (event: DragEvent, id: string): void =>
  event.dataTransfer.setData(LINK, `${window.location.origin}/files/${id}`);

/** Returns the ids of the files of the service whose links were dropped. */
export const droppedIds = ({ dataTransfer }: DragEvent): string[] =>
  dataTransfer
    .getData(LINK)
    .split(/\r?\n/)
    .filter((line) => URL.canParse(line) && new URL(line).origin === window.location.origin)
    .map((line) => /^\/(?:files|runs)\/([^/]+)$/.exec(new URL(line).pathname)?.[1])
    .filter((id) => FileId.safeParse(id).success)
    .flatMap((id) => id ?? []);
