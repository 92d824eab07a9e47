import { z } from 'zod';

// The page's content policy forbids code made at run time, so zod must not try; imported before anything that parses.
z.config({ jitless: true });
