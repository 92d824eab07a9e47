import { spanOf } from '../ui/time.tsx';
import type { Upload } from './uploads.ts';

export const percentOf = (sent: number, size: number): number => (size === 0 ? 0 : Math.floor((100 * sent) / size));

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The time until these uploads are sent at their present speed, or null while that is unknown. */
export function timeLeft(uploads: readonly Upload[]): string | null {
  const speed = sum(uploads.map((upload) => upload.speed ?? 0));
  const bytes = sum(uploads.map(({ state, sent }) => state.size - sent));
  return speed > 0 ? `${spanOf(Math.ceil(bytes / speed) * 1000)} left` : null;
}
