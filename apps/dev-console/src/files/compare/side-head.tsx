import { NativeSelect } from '@mantine/core';
import { ProblemNotice } from '../../ui/problem-notice.tsx';
import type { Side } from './side.ts';

/** Shows and changes the file of one side. */
export function SideHead({ side }: { side: Side }) {
  const { name, id, file, offered, error, choose } = side;
  const isOffered = offered.some((each) => each.id === id);
  return (
    <>
      <NativeSelect
        label={name}
        value={id}
        onChange={({ target }) => choose(target.value)}
        data={[
          ...(isOffered ? [] : [{ value: id, label: file?.name ?? id }]),
          ...offered.map((each) => ({ value: each.id, label: each.name })),
        ]}
      />
      {error !== null && <ProblemNotice error={error} />}
    </>
  );
}
