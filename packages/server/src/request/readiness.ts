/** The readiness of the server. `accepting` becomes false as soon as the server is asked to stop. */
export interface Readiness {
  accepting: boolean;
  /** The `performance.now()` until which missing workers are not logged, because they start with the server. */
  workersDueAt?: number;
}
