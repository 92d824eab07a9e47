import { writeFileSync } from 'node:fs';
import { startWatchdog } from '../watchdog.ts';

const [milliseconds, path = ''] = process.argv.slice(2);
startWatchdog(Number(milliseconds));
writeFileSync(path, JSON.stringify({ pid: process.pid, settings: Object.keys(process.env) }));
for (;;);
