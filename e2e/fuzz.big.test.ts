import { testFuzzing } from './fuzz/tests.ts';

/** `npm run fuzz` sends 1,000 of each, which takes too long for every run of test:big. */
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 200);

testFuzzing({ requests, conversations: 50, connections: 5000 });
