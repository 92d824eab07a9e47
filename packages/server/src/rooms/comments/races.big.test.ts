// Repeats tests of `npm test` with more rounds.
import './races.test.ts';
import './walk.test.ts';
