/** The part of the log that tracing writes to. */
export interface Log {
  warn(fields: object, message: string): void;
  info(message: string): void;
}

/** Identifies the process in its traces, unless OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES do. */
export interface Service {
  name: string;
  version: string;
  /** Differs between processes of the same service. */
  instance: string;
}
