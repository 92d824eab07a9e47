import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApiDocument, PROBLEMS, problemType, SCOPES } from '@review/contract';
import { Router, static as serveDirectory } from 'express';
import type { Deps } from '../deps.ts';
import { metadataPath, type Resource } from './authenticate.ts';
import { ProblemError } from './problem.ts';

const RESOURCES: Resource[] = ['', '/mcp'];

/** What the interface says of itself: its description, a page to read it on, and what each problem means. */
export function documents({ config }: Deps): Router {
  const about = { version: releaseVersion(), serverUrl: config.publicUrl };
  const editions = {
    '/api/openapi.json': JSON.stringify(openApiDocument(about)),
    '/api/openapi-3.1.json': JSON.stringify(openApiDocument({ ...about, openapi: '3.1.1' })),
  };
  const problems = new Map(
    Object.entries(PROBLEMS).map(([code, problem]) => [
      problemType(code as keyof typeof PROBLEMS),
      { code, ...problem },
    ]),
  );
  return Router()
    .get('/api/openapi.json', (_request, response) => {
      response.type('application/json').send(editions['/api/openapi.json']);
    })
    .get('/api/openapi-3.1.json', (_request, response) => {
      response.type('application/json').send(editions['/api/openapi-3.1.json']);
    })
    .get('/problems/:name', (request, response) => {
      const problem = problems.get(request.path);
      if (problem === undefined) throw new ProblemError('NOT_FOUND');
      response
        .type('text/plain')
        .send(`${problem.code} (${problem.status})\n${problem.title}.\n\n${problem.explanation}\n`);
    })
    .get(RESOURCES.map(metadataPath), (request, response) => {
      response.json({
        resource: config.publicUrl + RESOURCES.find((resource) => metadataPath(resource) === request.path),
        ...(config.oauth && { authorization_servers: [config.oauth.issuer] }),
        bearer_methods_supported: ['header'],
        scopes_supported: SCOPES.map((scope) => (config.oauth?.scopePrefix ?? '') + scope),
        resource_documentation: `${config.publicUrl}/docs`,
      });
    })
    .get('/docs', (_request, response) => {
      response.set('Content-Security-Policy', DOCS_POLICY).type('html').send(DOCS_PAGE);
    })
    .get('/docs/start.js', (_request, response) => {
      response.type('text/javascript').send(DOCS_SCRIPT);
    })
    .use(
      '/docs',
      serveDirectory(dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css'))), {
        index: false,
        maxAge: '1h',
      }),
    );
}

export function releaseVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

const DOCS_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Project Review Service API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="page"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const DOCS_SCRIPT = `SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#page', deepLinking: true, validatorUrl: null });
`;
