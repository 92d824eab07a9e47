import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import classes from './page.module.css';

interface PageProps {
  /** Null while it is loaded. */
  title: string | null;
  /** The purpose of the page in one line. */
  description?: ReactNode;
  /** Breadcrumb above the title. */
  trail?: ReactNode;
  actions?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

/** The layout of every page: title, description, actions and content. */
export function Page({ title, description, trail, actions, wide = false, children }: PageProps) {
  useEffect(() => {
    document.title = title === null ? 'Project Review' : `${title} · Project Review`;
  }, [title]);
  return (
    <div className={classes.page} data-wide={wide || undefined}>
      {trail !== undefined && <div className={classes.trail}>{trail}</div>}
      <header className={classes.header}>
        <div className={classes.words}>
          <Title order={1} aria-label={title === null ? 'Loading' : undefined}>
            {title}
          </Title>
          {description !== undefined && (
            <Text c="dimmed" mt={4} component="div">
              {description}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </header>
      {children}
    </div>
  );
}
