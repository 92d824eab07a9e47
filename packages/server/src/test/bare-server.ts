// The cost of Express and prepared statements alone, without credentials, rules or checks, as a baseline.
// Only the benchmark uses it.
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Sqlite from 'better-sqlite3';
import express from 'express';

const database = new Sqlite(process.argv[2] ?? ':memory:');
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE comments (id TEXT PRIMARY KEY, project TEXT, content TEXT, created_at TEXT)');
database.exec('CREATE INDEX comments_by_project ON comments (project, created_at, id)');
const insert = database.prepare('INSERT INTO comments VALUES (?, ?, ?, ?)');
const newest = database.prepare('SELECT * FROM comments WHERE project = ? ORDER BY created_at DESC, id DESC LIMIT 50');
const one = database.prepare('SELECT * FROM comments WHERE id = ?');

const app = express().disable('x-powered-by').disable('etag');
app.get('/metrics', (_request, response) => {
  const { user, system } = process.cpuUsage();
  response.type('text/plain').send(`process_cpu_seconds_total ${(user + system) / 1e6}\n`);
});
app.get('/comments/:id', (request, response) => {
  response.json({ data: one.get(request.params.id) });
});
app.post('/projects/:id/comments', express.json(), (request, response) => {
  const id = randomUUID();
  insert.run(id, request.params.id, request.body.content, new Date().toISOString());
  response.status(201).json({ data: { id } });
});
app.get('/projects/:id/comments', (request, response) => {
  response.json({ data: newest.all(request.params.id), page: { next: null, prev: null } });
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${port}`);
});
