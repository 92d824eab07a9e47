import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Starts a program, and is busy for ever. The program takes the given megabytes of memory. */
const [path = '', megabytes = '0'] = process.argv.slice(2);
const take = `const kept = Buffer.alloc(${megabytes} * 1024 * 1024, 1); setInterval(() => kept, 1000)`;
const { pid: started } = spawn(process.execPath, ['-e', take], { stdio: 'ignore' });
writeFileSync(path, JSON.stringify({ pid: process.pid, started, settings: Object.keys(process.env) }));
for (;;);
