import { Anchor, Button, Code, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useLocation, useRouter } from '@tanstack/react-router';
import { type FormEvent, useEffect } from 'react';
import { clientFor, queryClient } from '../api.ts';
import { saveKey } from '../saved-key.ts';
import { sessionQuery } from '../session/session-query.ts';
import notice from '../ui/notice.module.css';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import classes from './page.module.css';
import { returnPath } from './return-path.ts';

const route = getRouteApi('/sign-in');

export function SignIn() {
  const { to, refused } = route.useSearch();
  const { hash } = useLocation();
  const router = useRouter();
  useEffect(() => {
    document.title = 'Sign in · Project Review';
  }, []);

  const signIn = useMutation({
    mutationFn: async (key: string) => {
      const { data } = await clientFor(key).ping.ping();
      saveKey(key);
      queryClient.setQueryData(sessionQuery.queryKey, data);
    },
    onSuccess: () => router.history.push(returnPath(to, hash)),
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key !== '') signIn.mutate(key);
  }

  return (
    <main className={classes.page}>
      <Stack gap="lg" className={classes.form}>
        <div>
          <Title order={1}>Project Review</Title>
          <Text c="dimmed" mt={6}>
            Generate documents, images, videos and 3D files, and review them together.
          </Text>
        </div>
        {refused && !signIn.isError && (
          <Text size="sm" className={notice.notice} role="note">
            The key you were signed in with is no longer valid. Sign in again.
          </Text>
        )}
        <form onSubmit={submit}>
          <Stack gap="sm">
            <PasswordInput name="key" label="API key" placeholder="prs_k_…" required autoFocus autoComplete="off" />
            <Button type="submit" loading={signIn.isPending} fullWidth>
              Sign in
            </Button>
          </Stack>
        </form>
        {signIn.isError && <ProblemNotice error={signIn.error} />}
        <Text size="sm" c="dimmed">
          <Code>npm start</Code> prints a key of the demo workspace; create others with{' '}
          <Code>npm run review -- key create</Code>. The key is kept in this tab only. Documentation:{' '}
          <Anchor href="/docs" size="sm">
            API reference
          </Anchor>
          .
        </Text>
      </Stack>
    </main>
  );
}
