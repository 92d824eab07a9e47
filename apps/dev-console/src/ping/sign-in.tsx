import { ApiProblem } from '@review/client';
import { type FormEvent, useState } from 'react';
import { clientFor } from '../session.ts';

export function SignIn({ onSignedIn }: { onSignedIn: (key: string) => void }) {
  const [refusal, setRefusal] = useState<string | null>(null);

  async function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    try {
      await clientFor(key).ping.ping();
      onSignedIn(key);
    } catch (error) {
      setRefusal(
        error instanceof ApiProblem
          ? `${error.message} (request ${error.requestId})`
          : 'The service cannot be reached.',
      );
    }
  }

  return (
    <main className="sign-in">
      <h1>Project Review Service</h1>
      <p>
        Sign in with an API key. <code>npm start</code> prints one for the demo workspace; others are made by{' '}
        <code>npm run review -- key create</code>.
      </p>
      <form onSubmit={signIn}>
        <label htmlFor="key">API key</label>
        <input id="key" name="key" type="password" required autoComplete="off" placeholder="prs_k_…" />
        <button type="submit">Sign in</button>
      </form>
      {refusal !== null && <p role="alert">{refusal}</p>}
      <p>
        <a href="/docs">API reference</a>
      </p>
    </main>
  );
}
