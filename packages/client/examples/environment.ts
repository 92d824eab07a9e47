import { type Client, createClient } from '@review/client';

/** Returns the environment variable, or exits with the hint. */
export function required(name: string, hint: string): string {
  const value = process.env[name];
  if (value) return value;
  console.error(`Set ${name}: ${hint}.`);
  process.exit(2);
}

export const client: Client = createClient({
  baseUrl: required('REVIEW_URL', 'the address of the service, such as https://review.example.com'),
  token: required('REVIEW_TOKEN', 'an API key, which `npm run review -- key create` makes'),
});

export const project: string = required('REVIEW_PROJECT', 'the id of a project');
