import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './markdown.module.css';

/** Markdown drawn as elements: HTML in it stays text, addresses that would run something are dropped, nothing is fetched. */
export default function Markdown({ text }: { text: string }) {
  return (
    <div className={classes.markdown}>
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        components={{
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
        }}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
