import { FAMILIES, MODELS } from '@review/contract';
import { beforeEach, expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { onEachDatabase } from '../../test/house.ts';
import { takeTasks } from '../generation/slots.ts';
import { emptyQueue, modelNamed, queueMany } from '../generation/test/generations.ts';
import { connections, keyless, runAll } from './test/run-all.ts';

const CAPS = { veo: 3, document: 7 };
const FIVE = Object.fromEntries(FAMILIES.map((family) => [family, 5]));
const written = (caps: Record<string, number>) =>
  Object.entries(caps)
    .map(([name, count]) => `${name}=${count}`)
    .join();

onEachDatabase(
  (house) => {
    beforeEach(() => emptyQueue(house()));

    /** Claims from several connections at once. */
    async function claimAtOnce(processes: number, each: number, most: number) {
      const opened = Array.from({ length: processes }, () => connections(house()));
      try {
        const claims = opened.flatMap(({ deps }, index) =>
          Array.from({ length: each }, () => {
            const holder = keyless(`box:${index}`, deps.clock);
            return takeTasks(deps.db, holder, deps.config.generation, most, deps.clock());
          }),
        );
        return (await Promise.all(claims)).flat();
      } finally {
        for (const connected of opened) await connected[Symbol.asyncDispose]();
      }
    }

    test('a family has at most its cap of claimed generations, over all workspaces', async () => {
      await queueMany(house(), Array(4).fill(modelNamed('veo-3.1-generate-preview')));
      const { workspaceId } = house().people.foreigner;
      await queueMany(house(), Array(4).fill(modelNamed('veo-3.1-lite-generate-preview')), workspaceId);
      expect(await claimAtOnce(1, 1, 100)).toHaveLength(CAPS.veo);
      expect(await claimAtOnce(1, 1, 100)).toEqual([]);
    });

    test('a family at its cap does not block others of the same type', async () => {
      const veo = await queueMany(house(), Array(10).fill(modelNamed('veo-3.1-generate-preview')));
      const others = await queueMany(house(), Array(2).fill(modelNamed('kling-3.0')));
      const taken = [...(await claimAtOnce(1, 1, 5)), ...(await claimAtOnce(1, 1, 5))];
      expect(taken.map(({ fileId }) => fileId)).toEqual([...veo.slice(0, CAPS.veo), ...others]);
    });

    test('concurrent claims over 4 connections get each generation once and at most the cap', async () => {
      const ids = await queueMany(house(), Array(30).fill(modelNamed('pdf')));
      const taken = await claimAtOnce(4, 5, 2);
      const handed = taken.map(({ fileId }) => fileId);
      expect(handed).toHaveLength(CAPS.document);
      expect(handed.toSorted()).toEqual(ids.slice(0, CAPS.document).toSorted());
      expect(taken.every(({ epoch }) => epoch === 1)).toBe(true);
    });

    test('concurrent claims over 4 connections get at most the slots of a workspace', async () => {
      await queueMany(house(), Array(30).fill(modelNamed('meshy-7')));
      expect(await claimAtOnce(4, 5, 2)).toHaveLength(9);
    });

    test('only one of many concurrent claims gets a generation with an expired lease', async () => {
      await queueMany(house(), Array(5).fill(modelNamed('pdf')));
      await claimAtOnce(1, 1, 5);
      await house()
        .deps.db.updateTable('generations')
        .set({ lease_until: secondsFromNow(-1) })
        .execute();
      const taken = await claimAtOnce(4, 5, 2);
      expect(new Set(taken.map(({ fileId }) => fileId)).size).toBe(taken.filter(({ epoch }) => epoch === 2).length);
      expect(taken.filter(({ epoch }) => epoch > 2)).toEqual([]);
    });
  },
  { FAMILY_CAPS: written(CAPS), GENERATION_SLOTS: 'DOCUMENT=100,IMAGE=100,VIDEO=100,3D=9' },
);

onEachDatabase(
  (house) => {
    test('100 generations in random orders over two workers: never over the cap of 5, and no family starves', async () => {
      const { most, waited } = await runAll(
        house(),
        Array.from({ length: 100 }, (_, index) => MODELS[index % MODELS.length]),
        2,
        5,
      );
      expect(Math.max(...Object.values(most))).toBe(5);
      expect(Object.keys(most).sort()).toEqual(FAMILIES.toSorted());
      // No family waits for the whole queue of another one.
      expect(Math.max(...Object.values(waited))).toBeLessThan(100);
    });
  },
  { FAMILY_CAPS: written(FIVE), GENERATION_SLOTS: 'DOCUMENT=1000,IMAGE=1000,VIDEO=1000,3D=1000' },
);
