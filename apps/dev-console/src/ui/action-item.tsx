import { Menu, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface ActionItemProps {
  icon?: IconName;
  /** Why the action is not allowed, or null. The item is then disabled and shows the reason. */
  refusal: string | null;
  danger?: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** A menu item that shows why it is disabled. */
export function ActionItem({ icon, refusal, danger = false, onClick, children }: ActionItemProps) {
  const off = refusal !== null;
  return (
    <Menu.Item
      {...(icon !== undefined && { leftSection: <Icon name={icon} size={16} /> })}
      // Not `disabled`: the arrow keys must still reach the item, so that the reason can be read.
      renderRoot={(props) => <button type="button" {...props} aria-disabled={off || undefined} />}
      closeMenuOnClick={!off}
      {...(danger && { c: 'var(--mantine-color-error)' })}
      {...(off && { c: 'dimmed' })}
      onClick={() => {
        if (!off) onClick();
      }}
    >
      {children}
      {off && (
        <Text size="xs" c="dimmed" maw={240}>
          {refusal}
        </Text>
      )}
    </Menu.Item>
  );
}
