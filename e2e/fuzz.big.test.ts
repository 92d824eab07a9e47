import { testFuzzing } from './fuzz/tests.ts';

testFuzzing({ requests: 1000, conversations: 100, connections: 5000 });
