import { Menu, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface ActionItemProps {
  icon?: IconName;
  /** Why it cannot be done, or null: the item then stays in place and says so. */
  refusal: string | null;
  danger?: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** An item of a menu that explains itself when it is off. */
export function ActionItem({ icon, refusal, danger = false, onClick, children }: ActionItemProps) {
  const off = refusal !== null;
  return (
    <Menu.Item
      {...(icon !== undefined && { leftSection: <Icon name={icon} size={16} /> })}
      // Unlike an item that is disabled, the arrow keys still reach it, and with it the reason.
      renderRoot={(props) => <button type="button" {...props} aria-disabled={off || undefined} />}
      closeMenuOnClick={!off}
      {...(danger && !off && { color: 'red' })}
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
