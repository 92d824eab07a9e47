import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from './empty-state.tsx';
import { Page } from './page.tsx';

export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon="search"
        title="This page does not exist"
        action={
          <Button component={Link} to="/" variant="default">
            Go to the start page
          </Button>
        }
      >
        The address is wrong, or you have no access to this page.
      </EmptyState>
    </Page>
  );
}
