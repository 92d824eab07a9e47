import { useState } from 'react';
import { SignIn } from './ping/sign-in.tsx';
import { ProjectsPage } from './projects/page.tsx';
import { forgetKey, savedKey, saveKey } from './session.ts';

export function Console() {
  const [key, setKey] = useState(savedKey);
  if (key === null) {
    return (
      <SignIn
        onSignedIn={(accepted) => {
          saveKey(accepted);
          setKey(accepted);
        }}
      />
    );
  }
  return (
    <ProjectsPage
      apiKey={key}
      onSignOut={() => {
        forgetKey();
        setKey(null);
      }}
    />
  );
}
