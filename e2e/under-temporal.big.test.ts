// Repeats tests of `npm test`, which uses the embedded engine, under Temporal.
import './clock.test.ts';
import './providers-3d.test.ts';
import './providers-image-document.test.ts';
import './providers-video.test.ts';
import './storage-trouble.test.ts';
