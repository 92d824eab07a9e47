// The same tests as `npm test` runs on the embedded engine, here under Temporal.
import './providers-3d.test.ts';
import './providers-image-document.test.ts';
import './providers-video.test.ts';
