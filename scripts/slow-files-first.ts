import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** A sequencer that starts these files first, so that none of them runs alone at the end. */
export const slowFilesFirst = (...names: string[]) =>
  class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      const isSlow = ({ moduleId }: TestSpecification) => names.some((name) => moduleId.endsWith(name));
      return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
    }
  };
