import { Button, type ButtonProps } from '@mantine/core';
import { type MouseEvent, type ReactNode, useId } from 'react';
import classes from './action-button.module.css';

interface ActionButtonProps extends ButtonProps {
  /** Why it cannot be done, or null: the button then stays in place and says so. */
  refusal: string | null;
  onClick?: (event: MouseEvent) => void;
  type?: 'button' | 'submit';
  children: ReactNode;
}

/** A button that explains itself when it is off; it can still be reached by keyboard, so that the reason can be read. */
export function ActionButton({ refusal, onClick, type = 'button', children, ...rest }: ActionButtonProps) {
  const id = useId();
  const off = refusal !== null;
  return (
    <span className={classes.place}>
      <Button
        {...rest}
        type={type}
        data-disabled={off || undefined}
        aria-disabled={off || undefined}
        aria-describedby={off ? id : undefined}
        onClick={(event) => {
          if (off) event.preventDefault();
          else onClick?.(event);
        }}
      >
        {children}
      </Button>
      {off && (
        <span id={id} role="tooltip" className={classes.reason}>
          {refusal}
        </span>
      )}
    </span>
  );
}
