import { Anchor, Code, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, useLocation, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { SignInForm } from '../session/sign-in-form.tsx';
import notice from '../ui/notice.module.css';
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
  return (
    <main className={classes.page}>
      <Stack gap="lg" className={classes.form}>
        <div>
          <Title order={1}>Project Review</Title>
          <Text c="dimmed" mt={6}>
            Generate documents, images, videos and 3D files, and review them together.
          </Text>
        </div>
        {refused && (
          <Text size="sm" className={notice.notice} role="note">
            The key you were signed in with is no longer valid. Sign in again.
          </Text>
        )}
        <SignInForm onSignedIn={() => router.history.push(returnPath(to, hash))} />
        <Text size="sm" c="dimmed">
          <Code>npm start</Code> prints a key of the demo workspace; create others with{' '}
          <Code>npm run review -- key create</Code>. The key is kept in the open tabs of this browser, and signing out
          removes it from all of them. Documentation:{' '}
          <Anchor href="/docs" size="sm">
            API reference
          </Anchor>
          .
        </Text>
      </Stack>
    </main>
  );
}
