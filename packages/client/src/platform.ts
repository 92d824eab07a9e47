/** `#platform` resolves to `platform.node.ts` or `platform.browser.ts`, which implement these types. */
export interface Hash {
  update(bytes: Uint8Array): void;
  hex(): string;
}

/** A file that a download appends to until it is complete. */
export interface PartialFile {
  /** The bytes that an earlier download has written. */
  size: number;
  read(): AsyncIterable<Uint8Array>;
  write(bytes: Uint8Array): Promise<void>;
  /** Syncs the complete file and renames it to its final path. */
  commit(): Promise<void>;
  /** Closes the file and keeps its bytes for the next attempt. */
  close(): Promise<void>;
  discard(): Promise<void>;
}
