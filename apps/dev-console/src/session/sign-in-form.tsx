import { Button, PasswordInput, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { clientFor, queryClient } from '../api.ts';
import { startSession } from '../connection/tabs.ts';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { sessionQuery } from './session-query.ts';

/** Asks for a key until the service accepts one. */
export function SignInForm({ onSignedIn }: { onSignedIn: () => void }) {
  const signIn = useMutation({
    // Shown at once instead of waiting for the connection.
    networkMode: 'always',
    mutationFn: async (key: string) => {
      const { data } = await clientFor(key).ping.ping();
      startSession(key);
      queryClient.setQueryData(sessionQuery.queryKey, data);
    },
    onSuccess: onSignedIn,
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key !== '') signIn.mutate(key);
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <PasswordInput
          name="key"
          label="API key"
          placeholder="prs_k_…"
          required
          autoFocus
          data-autofocus
          autoComplete="off"
        />
        <Button type="submit" loading={signIn.isPending} fullWidth>
          Sign in
        </Button>
        {signIn.isError && <ProblemNotice error={signIn.error} />}
      </Stack>
    </form>
  );
}
