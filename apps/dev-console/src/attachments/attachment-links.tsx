import type { CommentAttachment } from '@review/contract';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { save } from '../ui/save.ts';
import { sizeOf } from '../ui/size.ts';
import classes from './attachments.module.css';

/** Download links of a comment's attachments. */
export function AttachmentLinks(props: { attachments: readonly CommentAttachment[]; refusal: string | null }) {
  const download = useApiMutation(
    async ({ id, name }: CommentAttachment) => {
      const { data } = await client.attachments.download({ params: { id } });
      save(data.url, name);
    },
    { invalidates: [] },
  );
  if (props.attachments.length === 0) return null;
  return (
    <>
      <ul className={classes.list} aria-label="Attachments">
        {props.attachments.map((attachment) => (
          <li key={attachment.id}>
            <ActionButton
              size="compact-sm"
              variant="default"
              refusal={props.refusal}
              leftSection={<Icon name="paperclip" size={14} />}
              onClick={() => download.mutate(attachment)}
            >
              {attachment.name} · {sizeOf(attachment.size)}
            </ActionButton>
          </li>
        ))}
      </ul>
      {download.isError && <ProblemNotice error={download.error} />}
    </>
  );
}
