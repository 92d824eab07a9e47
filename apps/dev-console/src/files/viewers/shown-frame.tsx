import type { ReactNode } from 'react';
import classes from './viewers.module.css';

declare module 'react' {
  interface CSSProperties {
    '--ratio'?: number;
    '--natural'?: string;
  }
}

interface ShownFrameProps {
  /** Width by height. */
  ratio: number;
  /** The width above which it is not enlarged, in pixels. */
  natural?: number | undefined;
  transform?: string;
  children: ReactNode;
}

/** A box of exactly the shown frame, so that drawings lie on the same pixels of every rendition. */
export const ShownFrame = ({ ratio, natural, transform, children }: ShownFrameProps) => (
  <div
    className={classes.shown}
    style={{
      '--ratio': ratio,
      ...(natural !== undefined && { '--natural': `${natural}px` }),
      ...(transform !== undefined && { transform }),
    }}
  >
    {children}
  </div>
);
