import { instantOf } from '@review/contract';
import { useEffect, useState } from 'react';

const SPANS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

function distance(instant: number, now: number): string {
  const seconds = Math.round((instant - now) / 1000);
  if (Math.abs(seconds) < 45) return seconds > 0 ? 'in a moment' : 'just now';
  if (Math.abs(seconds) > 30 * 86_400) return DAY.format(instant);
  const [unit, length] = SPANS.find(([, span]) => Math.abs(seconds) >= span) ?? ['minute', 60];
  return RELATIVE.format(Math.round(seconds / length), unit);
}

/** The current time, updated at an interval, so that relative times stay correct while a page is open. */
export function useNow(everyMilliseconds: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMilliseconds);
    return () => clearInterval(timer);
  }, [everyMilliseconds]);
  return now;
}

export function Time({ at }: { at: string }) {
  const now = useNow(30_000);
  const instant = instantOf(at);
  return (
    <time dateTime={new Date(instant).toISOString()} title={EXACT.format(instant)}>
      {distance(instant, now)}
    </time>
  );
}

/** Formats a duration. */
export function spanOf(milliseconds: number): string {
  if (milliseconds < 10_000) return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The duration from start to end, or to now while there is no end. */
export function Duration({ from, to }: { from: string; to: string | null }) {
  const now = useNow(to === null ? 500 : 3_600_000);
  return <span className="numbers">{spanOf((to === null ? now : instantOf(to)) - instantOf(from))}</span>;
}
