import { z } from 'zod';

// The Content-Security-Policy forbids `eval`, so zod must not compile schemas. Import this before any schema is used.
z.config({ jitless: true });
