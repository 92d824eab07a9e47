import { Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, type SkillDetails } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Facts } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { save } from '../ui/save.ts';
import { metadataText } from './fields.ts';
import classes from './page.module.css';
import { skillQuery, skillVersionQuery } from './queries.ts';
import { SkillForm } from './skill-form.tsx';
import { VersionEditor } from './version-editor.tsx';
import { VersionList } from './version-list.tsx';

const Markdown = lazy(() => import('../ui/markdown.tsx'));
const route = getRouteApi('/console/skills/$skillId');

export function SkillPage() {
  const { skillId } = route.useParams();
  const unreadable = useRefusal()(contract.skills.get);
  const query = useQuery({ ...skillQuery(skillId), enabled: unreadable === null });
  if (query.data !== undefined && unreadable === null) return <LoadedSkill skill={query.data} />;
  return (
    <Page title="Skill" trail={<Link to="/skills">Skills</Link>}>
      <Loaded query={query} refusal={unreadable}>
        {() => null}
      </Loaded>
    </Page>
  );
}

function LoadedSkill({ skill }: { skill: SkillDetails }) {
  const { version, write, about } = route.useSearch();
  const navigate = route.useNavigate();
  const refusal = useRefusal();
  const shownId = version ?? skill.default?.id ?? skill.versions[0]?.id;
  const unpublishable = refusal(contract.skills.publish);
  const show = (search: { version?: string; write?: true; about?: true }) => void navigate({ search });
  return (
    <Page
      title={skill.name}
      description={skill.description}
      trail={<Link to="/skills">Skills</Link>}
      wide
      actions={<SkillActions skill={skill} onAbout={() => show({ ...(version && { version }), about: true })} />}
    >
      {write && unpublishable === null ? (
        <VersionEditor
          key={skill.id}
          skill={skill}
          from={version ?? skill.default?.id}
          onDone={(id) => show({ version: id })}
          onClose={() => show(version === undefined ? {} : { version })}
        />
      ) : (
        <div className={classes.columns}>
          <section className="card" aria-label="Content">
            {shownId === undefined ? (
              <EmptyState
                icon="pencil"
                title="Nothing is published yet"
                action={
                  <ActionButton refusal={unpublishable} onClick={() => show({ write: true })}>
                    Write the first version
                  </ActionButton>
                }
              >
                The content of a skill is Markdown. The first version you publish becomes the default, which agents
                load.
              </EmptyState>
            ) : (
              <Content id={shownId} />
            )}
          </section>
          <Stack gap="lg">
            <VersionList
              skill={skill}
              shownId={shownId}
              onShow={(id) => show({ version: id })}
              onWrite={(id) => show({ ...(id && { version: id }), write: true })}
            />
            <Facts
              of={[
                ['License', skill.license],
                ['Allowed tools', skill.allowedTools?.join(', ')],
                [
                  'Metadata',
                  skill.metadata && (
                    <span key="metadata" className={classes.metadata}>
                      {metadataText(skill.metadata)}
                    </span>
                  ),
                ],
                [
                  'Id',
                  <span key="id" className="mono">
                    {skill.id}
                  </span>,
                ],
              ]}
            />
          </Stack>
        </div>
      )}
      {about && refusal(contract.skills.update) === null && (
        <SkillForm
          skill={skill}
          onDone={() => show(version === undefined ? {} : { version })}
          onClose={() => show(version === undefined ? {} : { version })}
        />
      )}
    </Page>
  );
}

function Content({ id }: { id: string }) {
  const query = useQuery(skillVersionQuery(id));
  return (
    <Loaded query={query}>
      {({ version, note, content }) => (
        <>
          <Text size="sm" c="dimmed" mb="md">
            Version {version}
            {note !== null && ` · ${note}`}
          </Text>
          <Suspense fallback={<Text c="dimmed">Drawing…</Text>}>
            <Markdown key={id} text={content} />
          </Suspense>
        </>
      )}
    </Loaded>
  );
}

function SkillActions({ skill, onAbout }: { skill: SkillDetails; onAbout: () => void }) {
  const refusal = useRefusal();
  const navigate = useNavigate();
  const [asking, dialog] = useDisclosure(false);
  const params = { id: skill.id };
  const exported = useApiMutation(
    async () => {
      const text = await client.skills.export({ params });
      const url = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }));
      save(url, 'SKILL.md');
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    },
    { invalidates: [] },
  );
  const remove = useApiMutation(() => client.skills.delete({ params }), {
    invalidates: [],
    onDone: () => void navigate({ to: '/skills' }),
  });
  const unexportable =
    refusal(contract.skills.export) ??
    (skill.default === null ? 'Publish a version first: the default one is exported.' : null);
  return (
    <>
      <Group gap="xs">
        <ActionButton variant="default" size="xs" refusal={refusal(contract.skills.update)} onClick={onAbout}>
          Edit
        </ActionButton>
        <ActionButton
          variant="default"
          size="xs"
          refusal={unexportable}
          loading={exported.isPending}
          onClick={() => exported.mutate()}
        >
          Export SKILL.md
        </ActionButton>
        <ActionButton
          variant="subtle"
          color="red"
          size="xs"
          refusal={refusal(contract.skills.delete)}
          onClick={dialog.open}
        >
          Delete
        </ActionButton>
      </Group>
      {exported.isError && <ProblemNotice error={exported.error} />}
      {asking && (
        <ConfirmDialog
          title={`Delete “${skill.name}”?`}
          submit="Delete skill"
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={dialog.close}
        >
          All its versions are deleted too. This cannot be undone.
        </ConfirmDialog>
      )}
    </>
  );
}
