import { upload } from '@review/client';
import { type CommentAttachment, contract } from '@review/contract';
import { useRef, useState } from 'react';
import { client } from '../api.ts';
import { maxLengthOf } from '../bounds.ts';

const MAX_ATTACHMENTS = maxLengthOf(contract.comments.create.body.shape.attachments);

export interface NewAttachment {
  key: string;
  file: File;
  sent: number;
  /** Null until the upload is complete. */
  id: string | null;
  error: unknown;
}

export interface NewAttachmentList {
  all: readonly NewAttachment[];
  ready: CommentAttachment[];
  isBusy: boolean;
  add: (files: File[]) => void;
  remove: (key: string) => void;
  /** Empties the list; the returned function restores it. */
  take: () => () => void;
}

/** Attachments of a new comment; each upload starts when the file is selected. */
export function useNewAttachments(on: { project: string } | { file: string }): NewAttachmentList {
  const [all, setAll] = useState<readonly NewAttachment[]>([]);
  const running = useRef(new Map<string, AbortController>());
  const change = (key: string, difference: Partial<NewAttachment>) =>
    setAll((before) => before.map((each) => (each.key === key ? { ...each, ...difference } : each)));

  async function send(key: string, file: File) {
    const controller = new AbortController();
    running.current.set(key, controller);
    try {
      const { id } = await upload(client, {
        to: { ...on, kind: 'comment' },
        source: file,
        signal: controller.signal,
        cancelOnAbort: true,
        onProgress: (sent) => change(key, { sent }),
      });
      change(key, { id });
    } catch (error) {
      if (!controller.signal.aborted) change(key, { error });
    } finally {
      running.current.delete(key);
    }
  }

  return {
    all,
    ready: all.flatMap(({ id, file }) =>
      id === null ? [] : [{ id, name: file.name, mimeType: file.type || null, size: file.size }],
    ),
    isBusy: all.some(({ id, error }) => id === null && error === null),
    add(files) {
      const room = Math.max(0, MAX_ATTACHMENTS - all.length);
      for (const file of files.slice(0, room)) {
        const key = crypto.getRandomValues(new Uint32Array(2)).join('-');
        setAll((before) => [...before, { key, file, sent: 0, id: null, error: null }]);
        void send(key, file);
      }
    },
    remove(key) {
      running.current.get(key)?.abort();
      const id = all.find((each) => each.key === key)?.id;
      // A failure is harmless: the server deletes unused attachments later.
      if (id != null) void client.attachments.cancel({ params: { id } }).catch(() => {});
      setAll((before) => before.filter((each) => each.key !== key));
    },
    take() {
      const taken = all;
      setAll([]);
      return () => setAll((before) => [...taken, ...before]);
    },
  };
}
