import { Text } from '@mantine/core';
import { type Components, toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { useEffect, useState } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import classes from './markdown.module.css';
import type { Parsed } from './markdown-worker.ts';
import { parseMarkdown } from './parse-markdown.ts';

/** Renders Markdown. HTML stays text, URLs with executable schemes are removed, and no resource is fetched. */
export default function Markdown({ text }: { text: string }) {
  const [tree, setTree] = useState<Parsed>();
  useEffect(() => {
    const stop = new AbortController();
    void parseMarkdown(text, stop.signal).then((parsed) => {
      if (!stop.signal.aborted) setTree(parsed);
    });
    return () => stop.abort();
  }, [text]);
  if (tree === undefined) return <Text c="dimmed">Drawing…</Text>;
  if (tree === null) {
    return (
      <>
        <Text c="dimmed" size="sm" mb="sm" role="status">
          This Markdown is too long or too complex to draw, so it is shown as plain text.
        </Text>
        <pre className={classes.plain}>{text}</pre>
      </>
    );
  }
  return <div className={classes.markdown}>{toJsxRuntime(tree, { Fragment, jsx, jsxs, components: COMPONENTS })}</div>;
}

const COMPONENTS: Partial<Components> = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer">
      {alt || 'image'}
    </a>
  ),
};
