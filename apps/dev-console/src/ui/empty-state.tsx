import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './empty-state.module.css';
import { Icon, type IconName } from './icon.tsx';

/** Placeholder of an empty list: says what belongs here and how to add it. */
export function EmptyState(props: { icon: IconName; title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <span className={classes.icon}>
        <Icon name={props.icon} size={26} />
      </span>
      <Title order={2}>{props.title}</Title>
      <Text c="dimmed" maw="32rem" component="div">
        {props.children}
      </Text>
      {props.action}
    </div>
  );
}
