import { Anchor, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import { contract, SCOPES } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../models/queries.ts';
import { useRefusal } from '../session/access.ts';
import { useSession } from '../session/session-query.ts';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import classes from './page.module.css';
import { RateTable } from './rate-table.tsx';
import { Readiness } from './readiness.tsx';

export function HealthPage() {
  return (
    <Page
      title="Health"
      description={
        <>
          Whether the service works, who makes the files, and how much of the limits is used. Every operation and its
          limits: <Anchor href="/docs">API reference</Anchor>.
        </>
      }
    >
      <Stack gap="xl">
        <Readiness />
        <Families />
        <RateTable />
        <Scopes />
      </Stack>
    </Page>
  );
}

/** Which model families run live with a provider key, and which run in the sandbox. */
function Families() {
  const forbidden = useRefusal()(contract.models.list);
  const models = useQuery({ ...modelsQuery, enabled: forbidden === null });
  const families = Object.entries(Object.groupBy(models.data ?? [], ({ family }) => family));
  return (
    <section>
      <Title order={2} mb="sm">
        Models
      </Title>
      {forbidden !== null && <ForbiddenHint reason={forbidden} />}
      {models.isError && <ProblemNotice error={models.error} />}
      {models.isLoading && <Skeleton h={200} />}
      {families.length > 0 && (
        <div className={classes.table}>
          <Table verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Family</Table.Th>
                <Table.Th>Made by</Table.Th>
                <Table.Th>Models</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {families.map(([family, members]) => (
                <Table.Tr key={family}>
                  <Table.Td>{family}</Table.Td>
                  <Table.Td>
                    {members.some(({ provider }) => provider === 'live') ? 'the vendor' : 'the sandbox'}
                  </Table.Td>
                  <Table.Td>{members.map(({ name }) => name).join(', ')}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </section>
  );
}

function Scopes() {
  const { scopes } = useSession();
  return (
    <section>
      <Title order={2} mb="xs">
        Scopes of this key
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {scopes.length} of {SCOPES.length}. What lacks a scope is shown, but cannot be done.
      </Text>
      <ul className={classes.scopes}>
        {SCOPES.map((scope) => (
          <li key={scope} data-held={scopes.includes(scope) || undefined}>
            <Icon name={scopes.includes(scope) ? 'check' : 'cross'} size={14} />
            <span className="mono">{scope}</span>
            {!scopes.includes(scope) && <span className={classes.lacking}>(not held)</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
