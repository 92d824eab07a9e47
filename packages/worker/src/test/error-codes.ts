import { describe, expect, test } from 'vitest';
import type { StepErrorType } from '../step-error.ts';

type Code = string | number;

/** Codes for the operator and transient codes, whose confusion would cost money. */
export type ErrorClasses = Partial<Record<StepErrorType, Code[]>>;

export const codesIn = (byStatus: Record<number, Code[]>): Code[] => Object.values(byStatus).flat();

/** Tests that an adapter maps every documented code of its vendor. */
export function testErrorCodes(
  name: string,
  codes: Code[],
  classes: ErrorClasses,
  meaningOf: (code: string) => StepErrorType | undefined,
): void {
  describe(`the error codes of ${name}`, () => {
    test('are all mapped', () => {
      expect(codes.filter((code) => meaningOf(String(code)) === undefined)).toEqual([]);
      expect(meaningOf('SomethingNew')).toBeUndefined();
    });

    test('are mapped correctly where a mistake would cost money', () => {
      const read = Object.keys(classes).map((type) => [type, codes.filter((code) => meaningOf(String(code)) === type)]);
      expect(Object.fromEntries(read)).toEqual(classes);
    });
  });
}
