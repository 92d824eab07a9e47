import { testFuzzing } from './fuzz/tests.ts';

testFuzzing({ requests: 5, conversations: 3, connections: 100 });
