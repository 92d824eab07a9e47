import { Button, type ButtonProps } from '@mantine/core';
import { type MouseEvent, type ReactNode, useId } from 'react';
import classes from './action-button.module.css';

interface ActionButtonProps extends ButtonProps {
  /** Why the action is not allowed, or null. The button is then disabled and shows the reason. */
  refusal: string | null;
  onClick?: (event: MouseEvent) => void;
  type?: 'button' | 'submit';
  children: ReactNode;
}

/** A button that shows why it is disabled. It keeps the keyboard focus, so that the reason can be read. */
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
