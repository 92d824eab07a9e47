import { CopyButton, UnstyledButton, VisuallyHidden } from '@mantine/core';
import classes from './copyable-text.module.css';
import { Icon } from './icon.tsx';

/** A text, such as an id, that a click copies to the clipboard. */
export function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <UnstyledButton className={classes.copied} onClick={copy} title={`Copy ${label}`}>
          <VisuallyHidden>Copy {label}</VisuallyHidden>
          <span className="mono">{text}</span>
          <Icon name={copied ? 'check' : 'copy'} size={14} />
        </UnstyledButton>
      )}
    </CopyButton>
  );
}
