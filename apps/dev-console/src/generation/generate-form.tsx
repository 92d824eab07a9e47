import { NativeSelect, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { capBreaches, contract, type ModelRecord, type Project } from '@review/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ClipboardEvent, type DragEvent, type FormEvent, useRef, useState } from 'react';
import { client } from '../api.ts';
import { maxLengthOf } from '../bounds.ts';
import { ProjectChoice } from '../projects/project-choice.tsx';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { Icon } from '../ui/icon.tsx';
import notice from '../ui/notice.module.css';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Attachments } from './attachments.tsx';
import { ModelChoice, TypeChoice } from './choices.tsx';
import { type Draft, draftOf, fittingConfigs, requestOf, validationErrorsOf } from './draft.ts';
import { carriesAttachment, droppedIds } from './dropped.ts';
import { generateSeveral, MAX_OUTPUTS } from './generate-several.ts';
import classes from './playground.module.css';
import { PlaygroundSide, type Tab } from './playground-side.tsx';
import type { Run } from './runs-query.ts';
import { useAttachments } from './use-attachments.ts';
import { useDraft } from './use-draft.ts';
import { VideoSettings } from './video-settings.tsx';

const route = getRouteApi('/console/generate');
const PROMPT_LIMIT = maxLengthOf(contract.generation.generate.body.shape.prompt);
/** As many results as the page keeps beside the form. */
const MAX_RESULTS = 12;

interface GenerateFormProps {
  project: Project;
  offered: readonly Project[];
  models: readonly ModelRecord[];
}

export function GenerateForm({ project, offered, models }: GenerateFormProps) {
  const navigate = route.useNavigate();
  const { results = [] } = route.useSearch();
  const refusal = useRefusal();
  const [draft, setDraft] = useDraft(project.id, models);
  const [outputs, setOutputs] = useState(1);
  const [tab, setTab] = useState<Tab>('results');
  const [tried, setTried] = useState(false);
  const [dropping, setDropping] = useState(false);
  const promptField = useRef<HTMLTextAreaElement>(null);
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const attachments = useAttachments(project.id, draft.attachments, (update) =>
    setDraft((before) => ({ ...before, attachments: update(before.attachments) })),
  );
  const folders = useQuery({
    queryKey: ['folders', project.id],
    queryFn: async ({ signal }) => (await client.folders.list({ params: { id: project.id } }, { signal })).data,
    enabled: refusal(contract.folders.list, project.role) === null,
  });

  const model = models.find(({ id }) => id === draft.model);
  const request = requestOf(draft, model);
  const mistakes = validationErrorsOf(request);
  const mistakeAt = (pointer: string) => mistakes.find((mistake) => mistake.pointer.startsWith(pointer))?.message;
  const show = (ids: readonly string[]) => {
    setTab('results');
    const kept = (before: readonly string[] = []) => [...ids, ...before].slice(0, MAX_RESULTS);
    void navigate({ search: (before) => ({ ...before, results: kept(before.results) }), replace: true });
  };
  const generate = useMutation({
    mutationFn: () => generateSeveral(project.id, request, outputs, (id) => show([id])),
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (blocked !== null || generate.isPending) return;
    if (mistakes.length === 0 && attachments.sending.length === 0) generate.mutate();
    else promptField.current?.focus();
  }

  function take(files: FileList, event: DragEvent | ClipboardEvent) {
    if (files.length === 0) return;
    event.preventDefault();
    for (const file of files) void attachments.send(file);
  }

  function takeOver(run: Run) {
    setDraft((before) => draftOf(run, before.folder));
    promptField.current?.focus();
  }

  /** Inserts the token at the cursor. */
  function refer(id: string) {
    const field = promptField.current;
    const at = field?.selectionStart ?? draft.prompt.length;
    const token = `<#${id}>`;
    change({ prompt: draft.prompt.slice(0, at) + token + draft.prompt.slice(field?.selectionEnd ?? at) });
    requestAnimationFrame(() => {
      field?.focus();
      field?.setSelectionRange(at + token.length, at + token.length);
    });
  }

  const blocked =
    refusal(contract.generation.generate, project.role) ??
    (attachments.sending.some(({ error }) => error === null) ? 'An attachment is still being uploaded.' : null);

  return (
    <div className={classes.playground}>
      <form
        className={classes.form}
        onSubmit={submit}
        onPaste={(event) => take(event.clipboardData.files, event)}
        onDragOver={(event) => {
          if (!carriesAttachment(event)) return;
          event.preventDefault();
          setDropping(true);
        }}
        onDragLeave={() => setDropping(false)}
        onDrop={(event) => {
          setDropping(false);
          const ids = droppedIds(event);
          if (ids.length > 0) event.preventDefault();
          ids.forEach(attachments.add);
          take(event.dataTransfer.files, event);
        }}
        data-dropping={dropping || undefined}
      >
        <div className={classes.place}>
          <ProjectChoice
            chosen={project}
            offered={offered}
            onChoose={(id) => {
              // Folders, attachments and results belong to the previous project.
              change({ folder: null });
              attachments.clear();
              void navigate({
                search: ({ results: _, ...before }) => ({ ...before, project: id }),
                replace: true,
              });
            }}
          />
          <NativeSelect
            label="Folder"
            value={draft.folder ?? ''}
            onChange={(event) => change({ folder: event.target.value || null })}
            data={[
              { value: '', label: 'Root of the project' },
              ...(folders.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </div>
        <section className={`card ${classes.ask}`} aria-label="What to generate">
          <Textarea
            ref={promptField}
            label="Prompt"
            autosize
            minRows={4}
            maxRows={14}
            placeholder="What should it show? Say the subject, the light, the mood and how it moves."
            value={draft.prompt}
            onChange={(event) => change({ prompt: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
            error={tried || draft.prompt !== '' ? mistakeAt('/prompt') : undefined}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            description={<span className="numbers">{`${[...draft.prompt].length} of ${PROMPT_LIMIT} characters`}</span>}
          />
          {model !== undefined &&
            capBreaches(model, request).map(({ message }) => (
              <div key={message} className={notice.notice} data-kind="warning" role="note">
                <Text size="sm">{message}</Text>
              </div>
            ))}
          {generate.isError && <ProblemNotice error={generate.error} />}
          <div className={classes.send}>
            <SegmentedControl
              size="xs"
              aria-label="Number of results"
              value={String(outputs)}
              onChange={(value) => setOutputs(Number(value))}
              data={Array.from({ length: MAX_OUTPUTS }, (_, index) => ({
                value: String(index + 1),
                label: `${index + 1}×`,
              }))}
            />
            <div className={classes.go}>
              <Text size="xs" c="dimmed" visibleFrom="sm">
                Ctrl + Enter
              </Text>
              <ActionButton
                type="submit"
                leftSection={<Icon name="spark" size={16} />}
                loading={generate.isPending}
                refusal={blocked}
              >
                Generate
              </ActionButton>
            </div>
          </div>
          <Text size="xs" c="dimmed">
            {model?.provider === 'live'
              ? 'The vendor makes it and may charge for each result.'
              : 'The sandbox makes a real file, free of charge.'}
          </Text>
        </section>
        <Stack gap="lg" className="card">
          <TypeChoice
            value={draft.type}
            onChoose={(type) => change({ type, model: models.find(({ outputType }) => outputType === type)?.id ?? '' })}
          />
          <ModelChoice
            models={models.filter(({ outputType }) => outputType === draft.type)}
            value={draft.model}
            onChoose={({ id }) => change({ model: id })}
          />
          {model?.configs && (
            <VideoSettings
              limits={model.configs}
              value={fittingConfigs(model, draft.configs)}
              onChange={(configs) => change({ configs })}
            />
          )}
          <Attachments
            attachments={attachments}
            mistake={mistakeAt('/attachments')}
            onRefer={refer}
            onPick={() => setTab('files')}
          />
        </Stack>
      </form>
      <PlaygroundSide
        project={project}
        request={request}
        results={results}
        tab={tab}
        onTab={setTab}
        onResult={(id) => show([id])}
        onTake={takeOver}
        onAttach={attachments.add}
      />
    </div>
  );
}
