const [how = ''] = process.argv.slice(2);
if (how === 'exit') process.exit(3);
if (how === 'abort') process.abort();
if (how === 'heap') for (const kept: number[][] = []; ; ) kept.push(Array.from({ length: 1000 }, () => kept.length));
process.kill(process.pid, 'SIGTERM');
