import { Text } from '@mantine/core';
import type { FileDetails } from '@review/contract';
import type { ReactNode } from 'react';
import { codecName } from '../media/describe.ts';
import { renditionOf } from '../media/renditions.ts';
import classes from './viewers.module.css';

const ADVICE = {
  PENDING: 'A copy that it can play is being made, and appears here by itself.',
  READY: 'Download the file to play it with another program.',
  FAILED: 'No copy that it can play could be made. Download the file to play it with another program.',
};

/** The poster of a video that the browser cannot play, and the reason. */
export function UnplayableVideo({ file, action }: { file: FileDetails; action: ReactNode }) {
  const { media, mimeType, name } = file;
  const poster = renditionOf(file, 'POSTER');
  const format = media?.videoCodec == null ? `videos of the type ${mimeType}` : `${codecName(media.videoCodec)} video`;
  return (
    <div className={classes.frame}>
      {poster !== undefined && <img src={poster.url} alt={`Poster of ${name}`} className={classes.still} />}
      <div className={classes.bar} role="status">
        <Text size="sm" flex={1}>
          <b>This browser cannot play {format}.</b> {ADVICE[media?.status ?? 'READY']}
        </Text>
        {action}
      </div>
    </div>
  );
}
