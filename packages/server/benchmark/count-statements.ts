// Preloaded into a server. Counts the statements and transactions that it sends to its database, and writes them as JSON to
// STATEMENT_COUNTS on SIGUSR2. Only the counting run of the benchmark uses it.
import { writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import pg from 'pg';

const counts = { statements: 0, transactions: 0 };

function count(text: string): void {
  if (/^\s*begin/i.test(text)) counts.transactions += 1;
  else if (!/^\s*(commit|rollback|savepoint|release)/i.test(text)) counts.statements += 1;
}

const { prepare } = Sqlite.prototype;
Object.defineProperty(Sqlite.prototype, 'prepare', {
  value(this: Sqlite.Database, text: string) {
    return new Proxy(Reflect.apply(prepare, this, [text]), {
      get(statement, property) {
        const value = Reflect.get(statement, property, statement);
        if (typeof value !== 'function') return value;
        if (['run', 'all', 'get', 'iterate'].includes(String(property))) count(text);
        return value.bind(statement);
      },
    });
  },
});

const { query } = pg.Client.prototype;
Object.defineProperty(pg.Client.prototype, 'query', {
  value(this: pg.Client, ...args: unknown[]) {
    const [first] = args;
    if (typeof first === 'string') count(first);
    else if (typeof first === 'object' && first !== null && 'statements' in first && Array.isArray(first.statements))
      for (const { text } of first.statements) count(String(text));
    else if (typeof first === 'object' && first !== null && 'text' in first) count(String(first.text));
    return Reflect.apply(query, this, args);
  },
});

process.on('SIGUSR2', () => writeFileSync(process.env['STATEMENT_COUNTS'] ?? '', JSON.stringify(counts)));
