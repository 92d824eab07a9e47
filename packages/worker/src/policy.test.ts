import { FAMILIES } from '@review/contract';
import { expect, test } from 'vitest';
import { ADAPTERS } from './families/index.ts';
import { MAX_SECONDS } from './policy.ts';

test.each(FAMILIES)('the timeouts of %s are within those of the workflow', (family) => {
  const { submitSeconds, storeSeconds } = ADAPTERS[family];
  expect(submitSeconds).toBeLessThanOrEqual(MAX_SECONDS.submitSeconds);
  expect(storeSeconds).toBeLessThanOrEqual(MAX_SECONDS.storeSeconds);
});
