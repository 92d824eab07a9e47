import { Loader, Menu, UnstyledButton } from '@mantine/core';
import { REVIEW_STATUSES, type ReviewStatus } from '@review/contract';
import { ActionItem } from './action-item.tsx';
import { StatusBadge, statusLabel } from './status-badge.tsx';

interface StatusChoiceProps {
  /** Whose status it is. */
  of: string;
  current: ReviewStatus;
  /** Why that status cannot be set, or null. */
  refusal: (status: ReviewStatus) => string | null;
  change: { isPending: boolean; mutate: (status: ReviewStatus) => void };
}

/** The review status of a file or a version; those that cannot be set from here say why. */
export function StatusChoice({ of, current, refusal, change }: StatusChoiceProps) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <UnstyledButton
          aria-label={`Review status of ${of}: ${statusLabel(current)}. Change`}
          aria-busy={change.isPending}
        >
          {change.isPending ? <Loader size="xs" /> : <StatusBadge status={current} />}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {REVIEW_STATUSES.map((status) => (
          <ActionItem
            key={status}
            {...(status === current && { icon: 'check' })}
            refusal={status === current ? null : refusal(status)}
            onClick={() => {
              if (status !== current) change.mutate(status);
            }}
          >
            {statusLabel(status)}
          </ActionItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
