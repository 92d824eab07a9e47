import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { contract } from '@review/contract';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { useSession } from '../session/session-query.ts';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';

/** The target page of access links. The key comes from the fragment or from the form. */
export function JoinPage() {
  const { hash } = useLocation();
  const { workspace } = useSession();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(hash);
  const key = typed.trim();
  const join = useApiMutation((accessKey: string) => client.accessLinks.redeem({ body: { accessKey } }), {
    invalidates: [['projects']],
    onDone: () => void navigate({ to: '/projects' }),
  });
  return (
    <Page
      title="Join a project"
      description={`An access link makes you a member of one of the projects of ${workspace.name}.`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key !== '') join.mutate(key);
        }}
      >
        <Stack gap="md" maw="32rem" className="card">
          <TextInput
            label="Access key"
            description="The part of the link after the #."
            required
            classNames={{ input: 'mono' }}
            autoComplete="off"
            maxLength={maxLengthOf(contract.accessLinks.redeem.body.shape.accessKey)}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
          {join.isError && <ProblemNotice error={join.error} />}
          <Group>
            <Button type="submit" loading={join.isPending} disabled={key === ''}>
              Join the project
            </Button>
            <Text size="sm" c="dimmed">
              If you are a member already, the stronger role stays.
            </Text>
          </Group>
        </Stack>
      </form>
    </Page>
  );
}
