import { Checkbox, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { contract, type VersionDetails } from '@review/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { Thumbnail } from '../files/media/thumbnail.tsx';
import { projectFilesQuery } from '../files/queries.ts';
import { useProject } from '../projects/project-query.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import classes from './version-form.module.css';

interface VersionFormProps {
  projectId: string;
  /** The version to edit, or the initial files of a new one. */
  begin: VersionDetails | readonly string[];
  onDone: (versionId: string) => void;
  onClose: () => void;
}

const isVersion = (begin: VersionFormProps['begin']): begin is VersionDetails => 'files' in begin;

export function VersionForm({ projectId, begin, onDone, onClose }: VersionFormProps) {
  const old = isVersion(begin) ? begin : null;
  const [name, setName] = useState(old?.name ?? '');
  const [description, setDescription] = useState(old?.description ?? '');
  const [allowRestricted, setAllowRestricted] = useState(old?.allowRestricted ?? false);
  const [chosen, setChosen] = useState<string[]>(isVersion(begin) ? begin.files.map(({ id }) => id) : [...begin]);
  const [filesToo, setFilesToo] = useState(false);
  const { refusal } = useProject(projectId);
  const unreadable = refusal(contract.files.list);
  const files = useInfiniteQuery({ ...projectFilesQuery(projectId), enabled: unreadable === null });
  const isSame = new Set(files.data?.filter((file) => file.allowRestricted === allowRestricted).map(({ id }) => id));
  /** The chosen files that restricted reviewers see and the version they do not, or the other way round. */
  const differing = chosen.filter((id) => !isSame.has(id));
  const offersFiles =
    allowRestricted !== (old?.allowRestricted ?? false) &&
    differing.length > 0 &&
    refusal(contract.files.update) === null;
  const save = useApiMutation(
    async () => {
      // Before the version, so that a retry after a failure does not create a second one.
      if (offersFiles && filesToo) {
        for (const id of differing) await client.files.update({ params: { id }, body: { allowRestricted } });
      }
      const body = {
        name: name.trim(),
        description: description.trim() || null,
        allowRestricted,
        files: chosen.map((id) => ({ id })),
      };
      if (old === null) return (await client.versions.create({ params: { id: projectId }, body })).data.id;
      await client.versions.update({ params: { id: old.id }, body });
      return old.id;
    },
    { invalidates: [['versions'], ['files']], onDone },
  );
  return (
    <FormDialog
      title={old === null ? 'New version' : 'Edit the version'}
      submit={old === null ? 'Create version' : 'Save'}
      mutation={save}
      missing={name.trim() === '' ? 'Give it a name.' : null}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={maxLengthOf(contract.versions.create.body.shape.name)}
        placeholder="Second cut"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Textarea
        label="Description"
        description="What changed, and what to look at."
        autosize
        minRows={2}
        maxRows={8}
        maxLength={maxLengthOf(contract.versions.create.body.shape.description)}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <Checkbox
        label="Show to restricted reviewers"
        checked={allowRestricted}
        onChange={({ target }) => setAllowRestricted(target.checked)}
      />
      {offersFiles && (
        <Checkbox
          label={`${allowRestricted ? 'Show' : 'Hide'} ${differing.length === 1 ? 'its file' : `its ${differing.length} files`} too`}
          description={
            allowRestricted
              ? 'Restricted reviewers would see the version without its files.'
              : 'Restricted reviewers would still see its files in the project.'
          }
          checked={filesToo}
          onChange={({ target }) => setFilesToo(target.checked)}
        />
      )}
      <Loaded query={files} refusal={unreadable}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm" c="dimmed">
              The project has no files yet; you can add them to the version later.
            </Text>
          ) : (
            <Checkbox.Group label="Files" value={chosen} onChange={setChosen}>
              <Stack gap={8} mt="xs" mah="34vh" style={{ overflow: 'auto' }}>
                {list.map((file) => (
                  <Checkbox
                    key={file.id}
                    value={file.id}
                    classNames={{ body: classes.choice, labelWrapper: classes.words }}
                    label={
                      <span className={classes.file}>
                        <Thumbnail file={file} />
                        <span className={classes.name}>{file.name}</span>
                      </span>
                    }
                  />
                ))}
                <MoreButton query={files}>Show older files</MoreButton>
              </Stack>
            </Checkbox.Group>
          )
        }
      </Loaded>
    </FormDialog>
  );
}
