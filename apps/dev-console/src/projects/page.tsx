import { ApiProblem, type Client } from '@review/client';
import { useEffect, useState } from 'react';
import { clientFor } from '../session.ts';

type Identity = Awaited<ReturnType<Client['ping']['ping']>>['data'];
type Projects = Awaited<ReturnType<Client['projects']['list']>>['data'];

export function ProjectsPage({ apiKey, onSignOut }: { apiKey: string; onSignOut: () => void }) {
  const [identity, setIdentity] = useState<Identity | null>(null);
  const [projects, setProjects] = useState<Projects | null>(null);
  const [keyword, setKeyword] = useState('');
  const [refusal, setRefusal] = useState<string | null>(null);

  useEffect(() => {
    let current = true;
    const client = clientFor(apiKey);
    const show = async () => {
      const [who, list] = await Promise.all([
        client.ping.ping(),
        client.projects.list({ body: keyword === '' ? {} : { keyword } }),
      ]);
      if (!current) return;
      setIdentity(who.data);
      setProjects(list.data);
      setRefusal(null);
    };
    show().catch((error: unknown) => {
      if (current)
        setRefusal(error instanceof ApiProblem ? `${error.message} (request ${error.requestId})` : String(error));
    });
    return () => {
      current = false;
    };
  }, [apiKey, keyword]);

  return (
    <>
      <header>
        <strong>{identity?.workspace.name ?? '…'}</strong>
        <a href="/docs">API reference</a>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <main>
        <h1>Projects</h1>
        <label htmlFor="keyword">Search</label>
        <input
          id="keyword"
          type="search"
          maxLength={100}
          value={keyword}
          onChange={(event) => setKeyword(event.target.value)}
        />
        {refusal !== null && <p role="alert">{refusal}</p>}
        {projects?.length === 0 && <p>No project matches. Create one with POST /api/projects.</p>}
        <ul>
          {projects?.map((project) => (
            <li key={project.id}>
              <h2>{project.name}</h2>
              <p>{project.description}</p>
              <small>
                {project.role} · {project.id} · changed {project.updatedAt.slice(0, 16)}
              </small>
            </li>
          ))}
        </ul>
        <h2>Scopes of this key</h2>
        <p className="scopes">{identity?.scopes.join(', ')}</p>
      </main>
    </>
  );
}
