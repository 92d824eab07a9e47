import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApiDocument, PROBLEMS, problemType, SCOPES } from '@review/contract';
import { Router, static as serveDirectory } from 'express';
import { releaseVersion } from '../config/release.ts';
import type { Deps } from '../deps.ts';
import { metadataPath, type Resource } from '../http/authenticate.ts';
import { ProblemError } from '../request/problem.ts';
import { constantText, precompressedFiles } from './precompressed.ts';

const RESOURCES: Resource[] = ['', '/mcp'];

/** Serves the OpenAPI documents, the API reference, the explanations of problems and the OAuth metadata. */
export function documents({ config }: Deps): Router {
  const about = { version: releaseVersion(), serverUrl: config.publicUrl };
  const description = () => JSON.stringify(openApiDocument(about));
  const forGenerators = () => JSON.stringify(openApiDocument({ ...about, openapi: '3.1.1' }));
  const problems = new Map(
    Object.entries(PROBLEMS).map(([code, problem]) => [
      problemType(code as keyof typeof PROBLEMS),
      { code, ...problem },
    ]),
  );
  return Router({ caseSensitive: true, strict: true })
    .get('/api/openapi.json', constantText('application/json', description))
    .get('/api/openapi-3.1.json', constantText('application/json', forGenerators))
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
      precompressedFiles(SWAGGER_DIRECTORY, 'public, max-age=3600'),
      serveDirectory(SWAGGER_DIRECTORY, { index: false, maxAge: '1h' }),
    );
}

const SWAGGER_DIRECTORY = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css')));

const DOCS_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

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
