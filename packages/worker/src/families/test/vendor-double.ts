import type { Family, OutputType } from '@review/contract';
import type { Double, Order, Reply, VendorRequest } from './double.ts';
import type { Schema } from './published-schemas.ts';

export type Settings = Record<string, string>;

/** A running double. */
export interface StartedDouble {
  double: Double;
  outputTypeOf(order: Order): OutputType;
  /** The result of a submit; null if it is not unique or not stored unchanged. */
  mediaFor(order: Order, outputModel: string): Promise<Buffer> | Buffer | null;
}

/** The vendor's answers about a job, as documented. */
export interface JobAnswers {
  name: string;
  model: string;
  configs?: { resolution: string };
  /** Settings in addition to those of the vendor. */
  settings?: (url: string) => Settings;
  job: { id: string; [detail: string]: unknown };
  running: object[];
  succeeded: object;
  /** The path of the result in the succeeded answer. */
  result: string;
  failed: object;
  /** The path of the status or error in the failed answer. */
  status: string;
  /** A field that the vendor's library unwraps: without it, the call has no answer. */
  envelope?: string;
}

/** An answer of the vendor that holds the result itself. */
export interface ResultAnswer {
  name: string;
  model: string;
  configs?: { resolution: string };
  /** The job whose poll returns the answer; without it, the submit returns the answer. */
  job?: { id: string };
  answer: object;
  reply: (answer: object) => Reply;
  wanted: string;
  /** The paths of the fields that the result needs. */
  needed: string[];
}

interface Description {
  families: readonly Family[];
  /** The settings that point a worker to the vendor at this address. */
  settings(url: string): Settings;
  start(): Promise<StartedDouble>;
  /** What the worker's command `check` reports about the account of each family. */
  checks: Partial<Record<Family, string>>;
  /** The documented fields of each request, copied from the vendor's pages, not from the adapter. */
  pages: Record<string, Schema>;
  /** The key in `pages` of a request; the path by default. */
  pageOf?(request: VendorRequest): string;
  jobAnswers?: JobAnswers[];
  resultAnswers?: ResultAnswer[];
}

/** What the tests of all vendors know about one. `doubles.ts` finds every instance that a file of this folder exports. */
export class VendorDouble {
  readonly description: Description;

  constructor(description: Description) {
    this.description = description;
  }
}

export const RESULT_URL = 'https://result.example/file.glb?signature=1';
