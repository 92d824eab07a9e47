import classes from './middle-truncated.module.css';

/** The end of a name that stays visible: its last words and its extension. */
const END_LENGTH = 8;

/** A name that loses its middle where space is short, because names of files differ at their ends. The parent needs the whole name as its label. */
export function MiddleTruncated({ text }: { text: string }) {
  const letters = [...text];
  if (letters.length <= 1.5 * END_LENGTH) return text;
  return (
    <span className={classes.whole}>
      <span className={classes.start}>{letters.slice(0, -END_LENGTH).join('')}</span>
      <span className={classes.end}>{letters.slice(-END_LENGTH).join('')}</span>
    </span>
  );
}
