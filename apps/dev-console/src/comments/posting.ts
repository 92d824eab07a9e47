import type { CommentAttachment, CommentRecord, NewFileComment, Shape } from '@review/contract';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, queryClient } from '../api.ts';
import { invalidate } from '../api-mutation.ts';
import { meQuery } from '../session/me-query.ts';
import { type Audience, useMentionWriter } from './mentions.ts';
import { CHANGES } from './queries.ts';

/** A comment before it is posted. */
export interface Draft {
  content: string;
  attachments: CommentAttachment[];
  anchor: number | null;
  duration: number | null;
  shapes: readonly Shape[];
}

export interface Waiting extends Draft {
  number: number;
  /** Once the service has stored it. */
  id?: string;
}

let posted = 0;

/** The target of new comments. Replies are posted to the file or project of their parent. */
interface Place {
  on: { project: string } | { file: string };
  replyTo: string | null;
  audience: Audience;
}

/** Posts drafts. Returns those that the listed comments do not contain yet as `waiting`. */
export function usePosting(place: Place, listed: readonly CommentRecord[] | undefined) {
  const write = useMentionWriter(place.audience);
  const [waiting, setWaiting] = useState<readonly Waiting[]>([]);
  const { mutateAsync } = useMutation({
    // Until it ends, the list is not refetched: it would show the comment twice.
    mutationKey: CHANGES,
    // Without a connection it fails, so that the draft comes back, instead of waiting unseen.
    networkMode: 'always',
    mutationFn: async ({ draft, onStored }: { draft: Waiting; onStored: () => void }) => {
      const id = await send(place, { ...draft, content: await write(draft.content) });
      onStored();
      // Several lists are refetched: from then on the comment may be in this one, while others are pending.
      setWaiting((before) => before.map((each) => (each.number === draft.number ? { ...each, id } : each)));
      const { data } = await client.comments.get({ params: { id } });
      if (data.author !== null) queryClient.setQueryData(meQuery.queryKey, data.author.id);
    },
    onSettled: () => invalidate([['comments']]),
  });
  /** Calls `onStored` as soon as the service has the comment, and resolves when the list has it too. */
  async function post(draft: Draft, onStored: () => void): Promise<void> {
    const number = ++posted;
    const unconfirmed = { ...draft, number };
    setWaiting((before) => [...before, unconfirmed]);
    try {
      await mutateAsync({ draft: unconfirmed, onStored });
    } finally {
      setWaiting((before) => before.filter((each) => each.number !== number));
    }
  }
  const ids = new Set(listed?.map(({ id }) => id));
  return { waiting: waiting.filter(({ id }) => id === undefined || !ids.has(id)), post };
}

async function send(
  { on, replyTo }: Place,
  { content, attachments, anchor, duration, shapes }: Draft,
): Promise<string> {
  const body: NewFileComment = {
    ...(content !== '' && { content }),
    ...(replyTo !== null && { parent: { id: replyTo } }),
    ...(attachments.length > 0 && { attachments: attachments.map(({ id }) => ({ id })) }),
    ...(anchor !== null && { anchor }),
    ...(anchor !== null && duration !== null && { duration }),
    ...(shapes.length > 0 && { annotation: { version: 1, shapes: [...shapes] } }),
  };
  const { data } =
    'file' in on
      ? await client.comments.createOnFile({ params: { id: on.file }, body })
      : await client.comments.create({ params: { id: on.project }, body });
  return data.id;
}
