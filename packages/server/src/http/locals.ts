declare global {
  namespace Express {
    /** Set by the middleware. */
    interface Locals {
      requestId?: string;
      /** The room and verb of the contract, for logs and metrics. */
      operation?: string;
      /** The route of the contract or of the worker API, for traces. */
      route?: { name: string; path: string };
      /** The code of the problem that it answers with. */
      problem?: string;
    }
  }
}

export {};
