export { type TracingSettings, tracingSettings } from './settings.ts';
export {
  inSpan,
  isTraced,
  markFailed,
  type Span,
  SpanKind,
  startSpan,
  traceHeaders,
  traceIdOf,
  traceparentOf,
  withSpan,
} from './spans.ts';
export { isTracing, startTracing } from './start.ts';
