import { FAMILIES, MODELS } from '@review/contract';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { runAll } from './test/run-all.ts';

const FIVE = FAMILIES.map((family) => `${family}=5`).join();

onEachDatabase(
  (house) => {
    test('fault 25: 1,000 generations, cap 5, two workers: the cap holds and no family starves', {
      timeout: 600_000,
    }, async () => {
      const models = Array.from({ length: 1000 }, (_, index) => MODELS[index % MODELS.length]);
      const { most, waited } = await runAll(house(), models, 2, 5);
      expect(Math.max(...Object.values(most))).toBe(5);
      expect(Object.keys(most).sort()).toEqual(FAMILIES.toSorted());
      expect(Math.max(...Object.values(waited))).toBeLessThan(100);
    });
  },
  { FAMILY_CAPS: FIVE, GENERATION_SLOTS: 'DOCUMENT=1000,IMAGE=1000,VIDEO=1000,3D=1000' },
);
