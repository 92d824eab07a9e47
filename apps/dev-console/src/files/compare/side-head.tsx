import { NativeSelect, Text } from '@mantine/core';
import { ProblemNotice } from '../../ui/problem-notice.tsx';
import { Tile } from '../../ui/tile.tsx';
import { proxyOf } from '../media/renditions.ts';
import { Thumbnail } from '../media/thumbnail.tsx';
import classes from './compare.module.css';
import type { Side } from './side.ts';

/** Shows and changes the file of one side. */
export function SideHead({ side }: { side: Side }) {
  const { name, id, file, offered, error, choose } = side;
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
            ...offered.map((each) => ({ value: each.id, label: each.name })),
          ]}
        />
      </div>
      {error !== null && <ProblemNotice error={error} />}
    </>
  );
}
