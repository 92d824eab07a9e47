import { Modal, Stack, Text, Title } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { SignInForm } from '../session/sign-in-form.tsx';
import { resumeSession } from './resume-session.ts';

/** Covers the page while its key is not valid. The page stays as it is, with all that is typed in it. */
export default function SignInAgain() {
  const router = useRouter();
  return (
    <Modal.Root
      opened
      fullScreen
      zIndex={1000}
      onClose={() => {}}
      closeOnEscape={false}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Content aria-label="Sign in again">
        <Stack gap="lg" maw="24rem" mx="auto" mt="16vh" px="md">
          <div>
            <Title order={1}>Sign in again</Title>
            <Text c="dimmed" mt={6}>
              The key you were signed in with is no longer valid. The page stays open, and nothing that you have typed
              is lost.
            </Text>
          </div>
          <SignInForm onSignedIn={() => resumeSession(router)} />
        </Stack>
      </Modal.Content>
    </Modal.Root>
  );
}
