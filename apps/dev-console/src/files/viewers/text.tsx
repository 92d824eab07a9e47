import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import Markdown from '../../ui/markdown.tsx';
import { ProblemNotice } from '../../ui/problem-notice.tsx';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

const SHOWN_BYTES = 1_000_000;

/** Renders Markdown, and other text as it is. HTML stays text, so that a file cannot run scripts. */
export default function TextViewer({ file, url }: ViewerProps) {
  const text = useQuery({
    queryKey: ['content', file.id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const response = await fetch(url, { signal, headers: { range: `bytes=0-${SHOWN_BYTES - 1}` } });
      if (!response.ok) throw new Error(`the content was answered with ${response.status}`);
      return response.text();
    },
  });
  if (text.isError) return <ProblemNotice error={text.error} onRetry={() => void text.refetch()} />;
  if (text.data === undefined) return <Skeleton h={320} />;
  const isMarkdown = file.mimeType === 'text/markdown' || /\.(md|markdown)$/i.test(file.name);
  return (
    <div className={classes.frame}>
      {isMarkdown ? (
        <article className={classes.prose}>
          <Markdown key={file.id} text={text.data} />
        </article>
      ) : (
        <pre className={classes.plain}>{text.data}</pre>
      )}
    </div>
  );
}
