import type { Deps } from '../deps.ts';

export interface Finding {
  /** The check. */
  name: string;
  status: 'ok' | 'warning' | 'failed';
  /** What was found. */
  message: string;
  /** What to do; null if nothing. */
  advice: string | null;
}

export type Outcome = Omit<Finding, 'name'>;

export type Diagnosed = Pick<Deps, 'config' | 'db' | 'opened' | 'clock' | 'storage'>;

export type Check = (deps: Diagnosed) => Outcome[] | Promise<Outcome[]>;

export const ok = (message: string): Outcome => ({ status: 'ok', message, advice: null });
export const warning = (message: string, advice: string): Outcome => ({ status: 'warning', message, advice });
export const failed = (message: string, advice: string): Outcome => ({ status: 'failed', message, advice });

export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError
    ? error.errors.map(reasonOf).join('; ')
    : String(Reflect.get(Object(error), 'message'));
