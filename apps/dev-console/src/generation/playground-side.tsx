import { Tabs } from '@mantine/core';
import type { GenerateRequest, Project } from '@review/contract';
import { History } from './history.tsx';
import classes from './playground.module.css';
import { ProjectFiles } from './project-files.tsx';
import { RequestPreview } from './request-preview.tsx';
import { Results } from './results.tsx';
import type { Run } from './runs-query.ts';

export const TABS = ['results', 'history', 'files', 'code'] as const;
export type Tab = (typeof TABS)[number];

const LABELS: Record<Tab, string> = { results: 'Results', history: 'History', files: 'Files', code: 'Code' };

interface PlaygroundSideProps {
  project: Project;
  request: GenerateRequest;
  results: readonly string[];
  tab: Tab;
  onTab: (tab: Tab) => void;
  onResult: (id: string) => void;
  onTake: (run: Run) => void;
  onAttach: (id: string) => void;
}

/** Beside the form: what came of it, what to begin with, and the request as code. */
export function PlaygroundSide({ project, request, results, tab, onTab, ...props }: PlaygroundSideProps) {
  return (
    <Tabs
      value={tab}
      onChange={(value) => onTab(TABS.find((each) => each === value) ?? 'results')}
      keepMounted={false}
      className={classes.side}
    >
      <Tabs.List mb="md">
        {TABS.map((each) => (
          <Tabs.Tab key={each} value={each}>
            {LABELS[each]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="results">
        <Results project={project} ids={results} onRetried={props.onResult} />
      </Tabs.Panel>
      <Tabs.Panel value="history">
        <History project={project.id} onTake={props.onTake} />
      </Tabs.Panel>
      <Tabs.Panel value="files">
        <ProjectFiles
          project={project.id}
          chosen={request.attachments.map(({ id }) => id)}
          onPick={({ id }) => props.onAttach(id)}
        />
      </Tabs.Panel>
      <Tabs.Panel value="code">
        <RequestPreview project={project.id} request={request} />
      </Tabs.Panel>
    </Tabs>
  );
}
