import { inSpan, isTraced, SpanKind } from '@review/tracing';
import { StepError } from '../step-error.ts';
import type { Call } from './family.ts';
import type { Families } from './open.ts';

/**
 * Wraps the families so that every call to a provider in a traced step has a span. The trace is not passed on: its ids would tell a vendor which of
 * our requests belong together.
 */
export function traceCalls(families: Families['family']): Families['family'] {
  return (name, provider) => {
    const family = families(name, provider);
    const attributes = { 'review.family': name, 'review.provider': family.provider };
    const traced =
      <Asked extends Call, Answer>(verb: string, call: (asked: Asked) => Promise<Answer>) =>
      (asked: Asked): Promise<Answer> => {
        if (!isTraced()) return call(asked);
        const options = { kind: SpanKind.CLIENT, attributes, signal: asked.signal, errorType };
        return inSpan(`provider.${verb}`, options, () => call(asked));
      };
    const { cancel, lookUp } = family;
    return {
      ...family,
      submit: traced('submit', (call) => family.submit(call)),
      poll: traced('poll', (call) => family.poll(call)),
      download: traced('download', (call) => family.download(call)),
      ...(cancel && { cancel: traced('cancel', cancel) }),
      ...(lookUp && { lookUp: traced('lookUp', lookUp) }),
    };
  };
}

const errorType = (error: unknown): string => (error instanceof StepError ? error.type : 'INTERNAL');
