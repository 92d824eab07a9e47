/** Whether the server should be sent requests; turned off first when it stops. */
export interface Readiness {
  accepting: boolean;
  /** Of `performance.now()`. Until then a missing worker is not logged: it starts together with the server. */
  workersDueAt?: number;
}
