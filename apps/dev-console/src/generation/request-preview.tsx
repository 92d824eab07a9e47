import { CopyButton, Group, SegmentedControl, UnstyledButton } from '@mantine/core';
import type { GenerateRequest } from '@review/contract';
import { useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import { REQUEST_FORMS, type RequestForm } from './request-as.ts';
import classes from './request-preview.module.css';

const LABELS: Record<RequestForm, string> = { curl: 'curl', client: 'Typed client', mcp: 'MCP' };
const isForm = (text: string): text is RequestForm => text in REQUEST_FORMS;

/** Shows the request as code for other clients. It sends nothing. */
export function RequestPreview({ project, request }: { project: string; request: GenerateRequest }) {
  const [form, setForm] = useState<RequestForm>('curl');
  const text = REQUEST_FORMS[form](project, request);
  return (
    <section aria-label="The request as code" className={classes.preview}>
      <Group justify="space-between" p="xs" wrap="nowrap">
        <SegmentedControl
          size="xs"
          aria-label="Form of the request"
          value={form}
          onChange={(value) => isForm(value) && setForm(value)}
          data={Object.entries(LABELS).map(([value, label]) => ({ value, label }))}
        />
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <UnstyledButton className={classes.copy} onClick={copy}>
              <Icon name={copied ? 'check' : 'copy'} size={14} />
              {copied ? 'Copied' : 'Copy'}
            </UnstyledButton>
          )}
        </CopyButton>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard. */}
      <pre className={classes.code} tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
