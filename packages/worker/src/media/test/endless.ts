import { writeFileSync } from 'node:fs';

const [path = ''] = process.argv.slice(3);
writeFileSync(path, JSON.stringify({ pid: process.pid, settings: Object.keys(process.env) }));
for (;;);
