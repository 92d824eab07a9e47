import { Button } from '@mantine/core';
import type { ReactNode } from 'react';

interface MoreButtonProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
  children: ReactNode;
}

/** Loads the next page of a list; hidden on the last page. */
export function MoreButton({ query, children }: MoreButtonProps) {
  if (!query.hasNextPage) return null;
  return (
    <Button variant="default" mx="auto" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {children}
    </Button>
  );
}
