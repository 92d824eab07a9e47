import { NativeSelect, Text } from '@mantine/core';
import type { FileRecord } from '@review/contract';
import { ProblemNotice } from '../../ui/problem-notice.tsx';
import { Tile } from '../../ui/tile.tsx';
import { proxyOf } from '../media/renditions.ts';
import { Thumbnail } from '../media/thumbnail.tsx';
import classes from './compare.module.css';
import type { Side } from './side.ts';

/** Shows and changes the file of one side. */
export function SideHead({ side }: { side: Side }) {
  const { name, id, file, offered, earlier, error, choose } = side;
  const optionOf = (each: FileRecord) => ({ value: each.id, label: each.name });
  const proxy = file && proxyOf(file);
  const isOffered = offered.some((each) => each.id === id);
  return (
    <>
      <div className={classes.head}>
        {file === undefined ? <Tile icon="document" /> : <Thumbnail file={file} />}
        <NativeSelect
          label={
            <>
              {name}
              {proxy !== undefined && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  {proxy.height}p proxy of the original
                </Text>
              )}
            </>
          }
          value={id}
          onChange={({ target }) => choose(target.value)}
          data={[
            ...(isOffered ? [] : [{ value: id, label: file?.name ?? id }]),
            ...(earlier.length === 0
              ? offered.map(optionOf)
              : [
                  { group: 'Versions of it', items: earlier.map(optionOf) },
                  { group: 'Other files', items: offered.filter((each) => !earlier.includes(each)).map(optionOf) },
                ]),
          ]}
        />
      </div>
      {error !== null && <ProblemNotice error={error} />}
    </>
  );
}
