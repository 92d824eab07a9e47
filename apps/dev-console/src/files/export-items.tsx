import { Menu } from '@mantine/core';
import { contract, type FileRecord } from '@review/contract';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionItem } from '../ui/action-item.tsx';
import { save } from '../ui/save.ts';

const FORMATS = [
  { format: 'csv', extension: 'csv', label: 'Table (CSV)', needsFrames: false },
  { format: 'pdf', extension: 'pdf', label: 'Document with pictures (PDF)', needsFrames: false },
  { format: 'edl', extension: 'edl', label: 'Markers for Avid and Resolve (EDL)', needsFrames: true },
  { format: 'xmeml', extension: 'xml', label: 'Markers for Premiere (XML)', needsFrames: true },
  { format: 'fcpxml', extension: 'fcpxml', label: 'Markers for Final Cut Pro (FCPXML)', needsFrames: true },
] as const;

interface ExportItemsProps {
  file: Pick<FileRecord, 'id' | 'name' | 'media'>;
  refusal: ProjectRefusal;
}

/** Menu items that download the comments on a file. */
export function ExportItems({ file, refusal }: ExportItemsProps) {
  const download = useApiMutation(
    async ({ format, extension }: (typeof FORMATS)[number]) => {
      const exported = await client.comments.exportOnFile({ params: { id: file.id }, query: { format } });
      const url = URL.createObjectURL(exported);
      save(url, `${file.name.replace(/(?<=.)\.[^.]{1,10}$/, '')}.${extension}`);
      // The browser reads it when the download starts.
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    },
    { invalidates: [] },
  );
  const forbidden = refusal(contract.comments.exportOnFile);
  const hasFrames = file.media?.kind === 'VIDEO' && file.media.frameRate !== null;
  return (
    <>
      <Menu.Label>Export comments</Menu.Label>
      {FORMATS.filter(({ needsFrames }) => hasFrames || !needsFrames).map((choice) => (
        <ActionItem key={choice.format} icon="comment" refusal={forbidden} onClick={() => download.mutate(choice)}>
          {choice.label}
        </ActionItem>
      ))}
      <Menu.Divider />
    </>
  );
}
