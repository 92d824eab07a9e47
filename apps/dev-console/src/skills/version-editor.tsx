import { Button, Checkbox, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { contract, type SkillDetails } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useDeferredValue, useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { Loaded } from '../ui/loaded.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { skillVersionQuery } from './queries.ts';
import classes from './version-editor.module.css';

const fields = contract.skills.publish.body.out.shape;

const Markdown = lazy(() => import('../ui/markdown.tsx'));

interface VersionEditorProps {
  skill: SkillDetails;
  /** The version whose content the editor starts with. */
  from: string | undefined;
  onDone: (versionId: string) => void;
  onClose: () => void;
}

export function VersionEditor({ from, ...props }: VersionEditorProps) {
  const query = useQuery({ ...skillVersionQuery(from ?? ''), enabled: from !== undefined });
  if (from === undefined) return <Editor {...props} initial="" />;
  return <Loaded query={query}>{({ content }) => <Editor {...props} initial={content} />}</Loaded>;
}

function Editor({ skill, initial, onDone, onClose }: Omit<VersionEditorProps, 'from'> & { initial: string }) {
  // Kept in the session storage, so that a reload does not lose it.
  const [draft, setDraft, forget] = useSessionStorage<string | null>({
    key: `draft of ${skill.id}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const content = draft ?? initial;
  const shown = useDeferredValue(content);
  const [note, setNote] = useState('');
  const [isDefault, setIsDefault] = useState(true);
  const publish = useApiMutation(
    async () => {
      const body = { content, ...(note.trim() !== '' && { note: note.trim() }), isDefault };
      return (await client.skills.publish({ params: { id: skill.id }, body })).data.id;
    },
    {
      invalidates: [['skills']],
      onDone: (id) => {
        forget();
        onDone(id);
      },
    },
  );
  return (
    <Stack gap="md">
      <div className={classes.halves}>
        <Textarea
          label="Markdown"
          classNames={{ input: classes.source ?? '' }}
          autosize
          minRows={18}
          maxRows={34}
          spellCheck={false}
          maxLength={maxLengthOf(fields.content)}
          value={content}
          onChange={({ target }) => setDraft(target.value)}
        />
        <section aria-label="Preview">
          <Text size="sm" fw={500} pt={3} mb={1}>
            Preview
          </Text>
          <div className={classes.preview}>
            {shown.trim() === '' ? (
              <Text c="dimmed" size="sm">
                What you write appears here as agents and people read it.
              </Text>
            ) : (
              <Suspense fallback={null}>
                <Markdown text={shown} />
              </Suspense>
            )}
          </div>
        </section>
      </div>
      <TextInput
        label="Note"
        description="What changed. Shown in the list of versions."
        maxLength={maxLengthOf(fields.note)}
        maw="40rem"
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
      <Checkbox
        label="Make it the default version"
        checked={isDefault || skill.default === null}
        disabled={skill.default === null}
        description={skill.default === null ? 'The first version always becomes the default.' : undefined}
        onChange={({ target }) => setIsDefault(target.checked)}
      />
      {publish.isError && <ProblemNotice error={publish.error} />}
      <Group gap="xs">
        <Button loading={publish.isPending} disabled={content.trim() === ''} onClick={() => publish.mutate()}>
          Publish version
        </Button>
        <Button
          variant="default"
          onClick={() => {
            forget();
            onClose();
          }}
        >
          Discard
        </Button>
      </Group>
    </Stack>
  );
}
