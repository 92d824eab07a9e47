/** What only some hosts of JavaScript have: `#platform` is one of the two files beside this one. */
export interface Hash {
  update(bytes: Uint8Array): void;
  hex(): string;
}

/** Where a download is written to. */
export interface Landing {
  /** How many bytes an earlier download has left there. */
  size: number;
  present(): AsyncIterable<Uint8Array>;
  write(bytes: Uint8Array): Promise<void>;
  /** All is there: it gets its name. */
  settle(): Promise<void>;
  /** What is there stays for the next time. */
  leave(): Promise<void>;
  discard(): Promise<void>;
}
