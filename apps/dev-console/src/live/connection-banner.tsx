import { Button, Loader } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { type Reachability, tryNow, useReachability } from '../connection/reachability.ts';
import { useNow } from '../ui/time.tsx';
import classes from './connection-banner.module.css';
import { isAnyLost, subscribe } from './streams.ts';

/** A connection that is back sooner, as after the restart of a server behind a proxy, is not worth a message. */
const DELAY_MS = 2000;

/** Says once for all parts of the page that it is not current, until the service answers and all changes are loaded. */
export function ConnectionBanner() {
  const reachability = useReachability();
  const isLost = useSyncExternalStore(subscribe, isAnyLost) || reachability.is === 'away';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) return setShown(false);
    const timer = setTimeout(() => setShown(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  const isLimited = reachability.is === 'limited';
  return (
    <div role="status" aria-live="polite" className={classes.place}>
      {(isLimited || isShown) && (
        <div className={classes.banner}>
          <Loader size={14} color="yellow" aria-hidden="true" />
          <span>{isLimited ? 'Too many requests, going on soon…' : 'Connection lost, reconnecting…'}</span>
          <Countdown reachability={reachability} />
          {reachability.is === 'away' && (
            <Button size="compact-xs" variant="default" onClick={() => void tryNow()}>
              Try now
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

/** Hidden from screen readers, which would read it every second. */
function Countdown({ reachability }: { reachability: Reachability }) {
  const now = useNow(500);
  const due =
    reachability.is === 'limited' ? reachability.until : reachability.is === 'away' ? reachability.retryAt : null;
  if (due === null) return null;
  return (
    <span aria-hidden="true" className={`numbers ${classes.countdown}`}>
      in {Math.max(0, Math.ceil((due - now) / 1000))} s
    </span>
  );
}
