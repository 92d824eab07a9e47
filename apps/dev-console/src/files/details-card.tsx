import { Title } from '@mantine/core';
import type { FileDetails } from '@review/contract';
import { OUTPUTS } from '../models/queries.ts';
import { CopyableText } from '../ui/copyable-text.tsx';
import { Facts } from '../ui/facts.tsx';
import { sizeOf } from '../ui/size.ts';
import { Time } from '../ui/time.tsx';
import { mediaFacts } from './media/describe.ts';
import classes from './page.module.css';

/** The properties of a file. */
export const FileDetailsCard = ({ file }: { file: FileDetails }) => (
  <section className={`card ${classes.details}`}>
    <Title order={2} mb="md">
      Details
    </Title>
    <Facts
      of={[
        ['File', <CopyableText key="id" text={file.id} label="the file id" />],
        ['Kind', file.generation === null ? 'Upload' : OUTPUTS[file.generation.outputType].label],
        ['Type', file.mimeType],
        ...(file.media === null ? [] : mediaFacts(file.media)),
        ['Size', file.size !== null && sizeOf(file.size)],
        ['About', file.description],
        ['Made', <Time key="made" at={file.createdAt} />],
        ['Changed', <Time key="changed" at={file.updatedAt} />],
        ['SHA-256', file.sha256 && <CopyableText text={file.sha256} label="the checksum" />],
      ]}
    />
  </section>
);
