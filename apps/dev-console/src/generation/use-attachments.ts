import { upload } from '@review/client';
import { type FileDetails, GenerationAttachmentId } from '@review/contract';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api.ts';
import { fileQuery } from '../files/queries.ts';

/** A file that is being uploaded as an attachment. */
interface Sending {
  key: string;
  cancellation: AbortController;
  name: string;
  /** From 0 to 1. */
  progress: number;
  error: unknown;
}

interface Attachment {
  id: string;
  name: string;
  /** Known for files of the project. */
  file: FileDetails | undefined;
}

/** The attachments of a draft: uploaded ones by id, and uploads in progress. */
export function useAttachments(
  project: string | undefined,
  ids: readonly string[],
  change: (update: (ids: readonly string[]) => string[]) => void,
) {
  const [sending, setSending] = useState<readonly Sending[]>([]);
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const files = useQueries({ queries: ids.filter((id) => !isUpload(id)).map((id) => fileQuery(id)) });

  const add = (id: string) => change((before) => [...new Set([...before, id])]);

  async function send(file: File): Promise<void> {
    if (project === undefined) return;
    const key = crypto.getRandomValues(new Uint32Array(2)).join('-');
    const cancellation = new AbortController();
    const update = (change: Partial<Sending>) =>
      setSending((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));
    setSending((all) => [...all, { key, cancellation, name: file.name, progress: 0, error: null }]);
    try {
      const { id } = await upload(client, {
        to: { project, kind: 'generation' },
        source: file,
        signal: cancellation.signal,
        cancelOnAbort: true,
        onProgress: (sent, total) => update({ progress: sent / total }),
      });
      if (cancellation.signal.aborted) return;
      setNames((all) => ({ ...all, [id]: file.name }));
      setSending((all) => all.filter((one) => one.key !== key));
      add(id);
    } catch (error) {
      update({ error });
    }
  }

  function drop(dropped: readonly Sending[]) {
    for (const { cancellation } of dropped) cancellation.abort();
    setSending((all) => all.filter(({ cancellation }) => !cancellation.signal.aborted));
  }

  const fileOf = (id: string) => files.find(({ data }) => data?.id === id)?.data;
  return {
    attached: ids.map((id): Attachment => ({ id, name: names[id] ?? fileOf(id)?.name ?? id, file: fileOf(id) })),
    sending,
    add,
    send,
    remove: (id: string) => change((before) => before.filter((other) => other !== id)),
    cancel: (key: string) => drop(sending.filter((one) => one.key === key)),
    clear() {
      drop(sending);
      change(() => []);
    },
  };
}

const isUpload = (id: string) => GenerationAttachmentId.safeParse(id).success;
