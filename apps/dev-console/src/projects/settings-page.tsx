import { Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, type Project } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Time } from '../ui/time.tsx';
import { type ProjectRefusal, projectQuery, useProject } from './project-query.ts';

const route = getRouteApi('/console/projects/$projectId/settings');

export function ProjectSettingsPage() {
  const { projectId } = route.useParams();
  const unreadable = useRefusal()(contract.projects.get);
  const { refusal } = useProject(projectId);
  const query = useQuery({ ...projectQuery(projectId), enabled: unreadable === null });
  return (
    <Loaded query={query} refusal={unreadable}>
      {(project) => (
        <Stack gap="xl" maw="40rem">
          <About key={project.id} project={project} refusal={refusal} />
          <Deletion project={project} refusal={refusal} />
        </Stack>
      )}
    </Loaded>
  );
}

const formOf = ({ name, description, deadline }: Project) => ({
  name,
  description: description ?? '',
  deadline: deadline ?? '',
});

type Edits = Partial<ReturnType<typeof formOf>>;

/** Returns the edits that differ from `other`. */
const without = ({ name, description, deadline }: Edits, other: Edits): Edits => ({
  ...(name !== undefined && name !== other.name && { name }),
  ...(description !== undefined && description !== other.description && { description }),
  ...(deadline !== undefined && deadline !== other.deadline && { deadline }),
});

function About({ project, refusal }: { project: Project; refusal: ProjectRefusal }) {
  // The other fields show the stored values and are not sent, so that concurrent changes to them are kept.
  const [edits, setEdits] = useState<Edits>({});
  const { name, description, deadline } = { ...formOf(project), ...edits };
  const change = (changed: Edits) => setEdits(without({ ...edits, ...changed }, formOf(project)));
  const forbidden = refusal(contract.projects.update);
  const readOnly = forbidden !== null;
  const save = useApiMutation(
    (edited: Edits) =>
      client.projects.update({
        params: { id: project.id },
        body: {
          ...(edited.name !== undefined && { name: edited.name.trim() }),
          ...(edited.description !== undefined && { description: edited.description.trim() || null }),
          ...(edited.deadline !== undefined && { deadline: edited.deadline || null }),
        },
      }),
    { invalidates: [['projects']] },
  );
  const submit = () => save.mutate(edits, { onSuccess: () => setEdits((latest) => without(latest, edits)) });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!readOnly && name.trim() !== '') submit();
      }}
    >
      <Stack gap="md">
        <Title order={2}>About the project</Title>
        {forbidden !== null && <ForbiddenHint reason={forbidden} />}
        <TextInput
          label="Name"
          required
          readOnly={readOnly}
          maxLength={maxLengthOf(contract.projects.update.body.shape.name)}
          value={name}
          onChange={(event) => change({ name: event.target.value })}
          error={name.trim() === '' ? 'A project needs a name.' : null}
        />
        <Textarea
          label="Description"
          autosize
          minRows={3}
          maxLength={maxLengthOf(contract.projects.update.body.shape.description)}
          readOnly={readOnly}
          value={description}
          onChange={(event) => change({ description: event.target.value })}
        />
        <TextInput
          label="Deadline"
          type="date"
          w={180}
          readOnly={readOnly}
          value={deadline}
          onChange={(event) => change({ deadline: event.target.value })}
        />
        {save.isError && <ProblemNotice error={save.error} />}
        <Group>
          <ActionButton type="submit" refusal={forbidden} loading={save.isPending}>
            Save
          </ActionButton>
          {save.isSuccess && (
            <Text size="sm" c="dimmed" role="status">
              Saved.
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function Deletion({ project, refusal }: { project: Project; refusal: ProjectRefusal }) {
  const [asking, dialog] = useDisclosure(false);
  const invalidates = [['projects']];
  const params = { id: project.id };
  const remove = useApiMutation(() => client.projects.delete({ params }), { invalidates, onDone: dialog.close });
  const undo = useApiMutation(() => client.projects.cancelDelete({ params }), { invalidates });
  return (
    <section className="card">
      <Stack gap="sm" align="flex-start">
        <Title order={2}>{project.deletesAt === null ? 'Delete the project' : 'Being deleted'}</Title>
        {project.deletesAt === null ? (
          <>
            <Text size="sm" c="dimmed">
              The project stays readable for seven days. Until then the deletion can be undone. After that its files,
              versions and comments are deleted permanently.
            </Text>
            <ActionButton refusal={refusal(contract.projects.delete)} color="red.8" onClick={dialog.open}>
              Delete project
            </ActionButton>
          </>
        ) : (
          <>
            <Text size="sm" c="dimmed">
              Everything in it will be deleted <Time at={project.deletesAt} />.
            </Text>
            <ActionButton
              refusal={refusal(contract.projects.cancelDelete)}
              loading={undo.isPending}
              onClick={() => undo.mutate()}
            >
              Keep the project
            </ActionButton>
            {undo.isError && <ProblemNotice error={undo.error} />}
          </>
        )}
      </Stack>
      {asking && (
        <ConfirmDialog
          title={`Delete “${project.name}”?`}
          submit="Delete in seven days"
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={dialog.close}
        >
          The project becomes read-only now. You can undo this for seven days.
        </ConfirmDialog>
      )}
    </section>
  );
}
