import type { Family as FamilyName } from '@review/contract';
import { StepError } from '../step-error.ts';
import type { Families } from './open.ts';
import { AccountRefusal } from './refusal.ts';

/** A provider refused the key or the balance of the account. Only the operator can fix that. */
export interface RefusedAccount {
  family: FamilyName;
  type: 'AUTH' | 'BALANCE';
  /** The provider's message, with secrets redacted. */
  message: string;
}

type OnRefusal = (refusal: RefusedAccount) => void;

/** Wraps the families so that every AUTH and BALANCE error is passed to `onRefusal` before it is thrown. */
export function watchRefusals(families: Families['family'], onRefusal: OnRefusal): Families['family'] {
  return (name, provider) => {
    const family = families(name, provider);
    const report = (error: unknown): never => {
      if (error instanceof StepError && (error.type === 'AUTH' || error.type === 'BALANCE')) {
        const message = error instanceof AccountRefusal ? error.said : error.message;
        onRefusal({ family: name, type: error.type, message });
      }
      throw error;
    };
    const watched =
      <Call, Answer>(call: (asked: Call) => Promise<Answer>) =>
      async (asked: Call): Promise<Answer> => {
        try {
          return await call(asked);
        } catch (error) {
          return report(error);
        }
      };
    const { cancel, lookUp } = family;
    return {
      ...family,
      check(task) {
        try {
          family.check(task);
        } catch (error) {
          report(error);
        }
      },
      submit: watched((call) => family.submit(call)),
      poll: watched((call) => family.poll(call)),
      download: watched((call) => family.download(call)),
      ...(cancel && { cancel: watched(cancel) }),
      ...(lookUp && { lookUp: watched(lookUp) }),
    };
  };
}
