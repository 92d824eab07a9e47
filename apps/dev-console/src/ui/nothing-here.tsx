import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from './empty-state.tsx';
import { Page } from './page.tsx';

export function NothingHere() {
  return (
    <Page title="Nothing here">
      <EmptyState
        icon="search"
        title="There is no such page"
        action={
          <Button component={Link} to="/" variant="default">
            To the start
          </Button>
        }
      >
        The address leads nowhere, or to something that is not visible to you.
      </EmptyState>
    </Page>
  );
}
