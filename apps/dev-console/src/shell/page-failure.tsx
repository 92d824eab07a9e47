import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { onReached, tryNow, Unreachable } from '../connection/reachability.ts';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { PartNotLoaded } from './lazy-page.ts';

const RELOADED_AT = 'reloaded-at';
const RELOAD_INTERVAL_MS = 30_000;
/** What browsers say of a module that they could not import. */
const NOT_IMPORTED = /dynamically imported module|importing a module/i;

/** What stands in place of a page that could not be loaded or drawn. It is loaded again as soon as the service answers. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const isPartMissing = error instanceof PartNotLoaded || (error instanceof Error && NOT_IMPORTED.test(error.message));
  useEffect(() => {
    if (isPartMissing) {
      void tryNow().then((isReached) => isReached && reloadOnce());
      return onReached(reloadOnce);
    }
    return error instanceof Unreachable ? onReached(() => void router.invalidate()) : undefined;
  }, [error, isPartMissing, router]);
  const retry = () => {
    // Browsers do not repeat the import of a module that failed.
    if (isPartMissing) return window.location.reload();
    reset();
    void router.invalidate();
  };
  return (
    <Page title="This page is not available">
      <ProblemNotice error={isPartMissing ? new Unreachable() : error} onRetry={retry} />
    </Page>
  );
}

/** Loads the console anew, which after an upgrade has other modules. Not repeatedly, in case they are missing. */
function reloadOnce(): void {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
  if (Date.now() - last < RELOAD_INTERVAL_MS) return;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  window.location.reload();
}
