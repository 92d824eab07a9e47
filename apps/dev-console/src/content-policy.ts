import { config } from 'zod/v4/core';

// The Content-Security-Policy forbids `eval`, so zod must not compile schemas. Runs before the chunks with schemas load.
config({ jitless: true });
