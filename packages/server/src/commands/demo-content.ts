import { z } from 'zod';

/** Calls the API as one of the people and returns the `data` of the response. */
export type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;
export const Created = z.object({ id: z.string() });

const Started = Created.extend({ parts: z.array(z.object({ url: z.string() })).length(1) });

interface Studio {
  owner: Call;
  others: Call[];
  projectId: string;
  /** Replaces PUBLIC_URL in presigned URLs, because the server may not run yet. */
  onThisHost: (url: string) => string;
}

/** Creates folders, files, a version under review, comments and an access link. */
export async function fillProject({ owner, others, projectId, onThisHost }: Studio): Promise<void> {
  const project = `/api/projects/${projectId}`;
  const [manager = owner, member = owner, reviewer = owner] = others;

  const scripts = Created.parse(await owner('POST', `${project}/folders`, { name: 'Scripts' }));
  await owner('POST', `${project}/folders`, { name: 'Drafts', parent: scripts });
  await owner('POST', `${project}/folders`, { name: 'Cuts' });

  const send = async (call: Call, start: string, complete: string, name: string, text: string, more = {}) => {
    const asked = { name, size: Buffer.byteLength(text), mimeType: 'text/markdown', ...more };
    const { id, parts } = Started.parse(await call('POST', start, asked));
    const response = await fetch(onThisHost(parts[0]?.url ?? ''), { method: 'PUT', body: text });
    const eTag = response.headers.get('etag');
    await call('POST', `${complete}/${id}/upload.complete`, { parts: [{ partNumber: 1, eTag }] });
    return id;
  };
  const script = await send(
    member,
    `${project}/files/upload.multipart`,
    '/api/files',
    'script.md',
    '# Script\n\nA lamp is switched on. The room wakes up.\n',
    { folder: scripts },
  );
  await member('PATCH', `/api/files/${script}`, { description: 'The first draft.', allowRestricted: true });
  const version = Created.parse(
    await member('POST', `${project}/versions`, { name: 'First cut', files: [{ id: script }], allowRestricted: true }),
  );
  await reviewer('PATCH', `/api/versions/${version.id}/status`, { status: 'NEED_EDIT' });

  const notes = await send(
    reviewer,
    `${project}/comment-attachments/upload.multipart`,
    '/api/comment-attachments',
    'notes.md',
    '- The ending is too fast.\n- More light.\n',
  );
  const remark = Created.parse(
    await reviewer('POST', `${project}/comments`, {
      content: 'The ending comes too fast. My notes are attached.',
      attachments: [{ id: notes }],
    }),
  );
  await member('POST', `${project}/comments`, { content: 'I give it two more seconds.', parent: remark });
  await manager('POST', `/api/comments/${remark.id}/reactions`, { type: '👍' });
  const question = Created.parse(
    await manager('POST', `/api/files/${script}/comments`, { content: 'Which lamp do we mean?', anchor: 1 }),
  );
  await member('POST', `/api/files/${script}/comments`, { content: 'The brass one.', parent: question });
  await manager('POST', `/api/comments/${question.id}/resolve`);

  await owner('POST', `${project}/access-links`, { role: 'PROJECT_REVIEWER', description: 'For the client' });
}

export async function makeSkill(owner: Call): Promise<void> {
  const skill = Created.parse(
    await owner('POST', '/api/skills', {
      name: 'Review a cut',
      description: 'How we look at a cut before it goes to the client.',
      allowedTools: ['get_file', 'create_file_comment'],
    }),
  );
  const content = '# Review a cut\n\n1. Watch it once without stopping.\n2. Comment on frames, one thing at a time.\n';
  await owner('POST', `/api/skills/${skill.id}/versions`, { content, note: 'The first one.' });
}
