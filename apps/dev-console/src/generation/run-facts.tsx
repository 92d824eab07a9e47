import { Anchor, Stack, Title } from '@mantine/core';
import { FileId, type GenerationDetails } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { OUTPUTS } from '../models/queries.ts';
import { CopyableText } from '../ui/copyable-text.tsx';
import { Facts } from '../ui/facts.tsx';
import { sizeOf } from '../ui/size.ts';
import { Duration, Time } from '../ui/time.tsx';
import { modelName } from './run-row.tsx';
import type { Run } from './runs-query.ts';

const PROVIDERS = { live: 'the vendor itself', sandbox: 'sandbox, free of charge' };
const ENGINES = { embedded: 'built in', temporal: 'Temporal' };

export function RunFacts({ run, details }: { run: Run; details: GenerationDetails | undefined }) {
  const { generation } = run;
  const { configs } = generation;
  return (
    <Stack gap="md">
      <Title order={2}>About this run</Title>
      <Facts
        of={[
          ['File', <CopyableText key="id" text={run.id} label="the file id" />],
          ['Type', OUTPUTS[generation.outputType].label],
          ['Model', modelName(generation.outputModel)],
          ['Provider', generation.provider && PROVIDERS[generation.provider]],
          ['Picture', configs && `${configs.resolution}, ${configs.aspectRatio}`],
          ['Length', configs && `${configs.durationSeconds} s, ${configs.generateAudio ? 'with' : 'without'} audio`],
          ['Size', run.size && sizeOf(run.size)],
          ['Requested', <Time key="asked" at={generation.queuedAt} />],
          ['Waited', generation.startedAt && <Duration from={generation.queuedAt} to={generation.startedAt} />],
          ['Took', generation.startedAt && <Duration from={generation.startedAt} to={generation.finishedAt} />],
          ['Engine', details?.engine && ENGINES[details.engine]],
          [
            'Workflow',
            details?.workflowUrl && (
              <Anchor href={details.workflowUrl} target="_blank" rel="noreferrer" size="sm">
                Open in Temporal
              </Anchor>
            ),
          ],
          ['Job', details?.providerJobId && <CopyableText text={details.providerJobId} label="the job id" />],
          [
            'Attachments',
            generation.attachments.length > 0 &&
              generation.attachments.map(({ id }) => (
                <div key={id} className="mono">
                  {FileId.safeParse(id).success ? (
                    <Link to="/files/$fileId" params={{ fileId: id }}>
                      {id}
                    </Link>
                  ) : (
                    id
                  )}
                </div>
              )),
          ],
        ]}
      />
    </Stack>
  );
}
