import { Loader, Menu, UnstyledButton } from '@mantine/core';
import { REVIEW_STATUSES, type ReviewStatus } from '@review/contract';
import { ActionItem } from './action-item.tsx';
import { StatusBadge, statusLabel } from './status-badge.tsx';

interface StatusChoiceProps {
  /** Name of the file or version, for the accessible label. */
  of: string;
  current: ReviewStatus;
  /** Why the caller cannot set that status, or null. */
  refusal: (status: ReviewStatus) => string | null;
  mutation: { isPending: boolean; mutate: (status: ReviewStatus) => void };
}

/** A menu that sets the review status of a file or version. Disabled entries show the reason. */
export function StatusChoice({ of, current, refusal, mutation }: StatusChoiceProps) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <UnstyledButton
          aria-label={`Review status of ${of}: ${statusLabel(current)}. Change`}
          aria-busy={mutation.isPending}
        >
          {mutation.isPending ? <Loader size="xs" /> : <StatusBadge status={current} />}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {REVIEW_STATUSES.map((status) => (
          <ActionItem
            key={status}
            {...(status === current && { icon: 'check' })}
            refusal={status === current ? null : refusal(status)}
            onClick={() => {
              if (status !== current) mutation.mutate(status);
            }}
          >
            {statusLabel(status)}
          </ActionItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
