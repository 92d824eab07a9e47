// Repeats tests of `npm test`, which uses the embedded engine, under Temporal.
import './providers-3d.test.ts';
import './providers-image-document.test.ts';
import './providers-video.test.ts';
import './tracing.test.ts';
