import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** A sequencer that starts these files first, in this order, so that none of them runs alone at the end. */
export const slowFilesFirst = (...names: string[]) =>
  class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      const slow = names.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)));
      return [...slow, ...sorted.filter((file) => !slow.includes(file))];
    }
  };
