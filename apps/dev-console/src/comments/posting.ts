import type { CommentAttachment, NewFileComment } from '@review/contract';
import { useState } from 'react';
import { client, queryClient } from '../api.ts';
import { invalidate } from '../api-mutation.ts';
import { meQuery } from '../members/me.ts';

/** A comment before it is posted. */
export interface Draft {
  content: string;
  attachments: CommentAttachment[];
  anchor: number | null;
}

export interface Waiting extends Draft {
  number: number;
}

let posted = 0;

/** The target of new comments. Replies are posted to the file or project of their parent. */
interface Place {
  on: { project: string } | { file: string };
  replyTo: string | null;
}

/** Posts drafts. Returns those that the refreshed list does not contain yet as `waiting`. */
export function usePosting(place: Place) {
  const [waiting, setWaiting] = useState<readonly Waiting[]>([]);
  async function post(draft: Draft): Promise<void> {
    const number = ++posted;
    setWaiting((before) => [...before, { ...draft, number }]);
    try {
      const id = await send(place, draft);
      const { data } = await client.comments.get({ params: { id } });
      if (data.author !== null) queryClient.setQueryData(meQuery.queryKey, data.author.id);
      await invalidate([['comments']]);
    } finally {
      setWaiting((before) => before.filter((each) => each.number !== number));
    }
  }
  return { waiting, post };
}

async function send({ on, replyTo }: Place, { content, attachments, anchor }: Draft): Promise<string> {
  const body: NewFileComment = {
    ...(content !== '' && { content }),
    ...(replyTo !== null && { parent: { id: replyTo } }),
    ...(attachments.length > 0 && { attachments: attachments.map(({ id }) => ({ id })) }),
    ...(anchor !== null && { anchor }),
  };
  const { data } =
    'file' in on
      ? await client.comments.createOnFile({ params: { id: on.file }, body })
      : await client.comments.create({ params: { id: on.project }, body });
  return data.id;
}
