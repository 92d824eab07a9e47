import type { Readable } from 'node:stream';
import type { Router } from 'express';

/** Where the bytes of one upload go. */
export interface StorageUpload {
  key: string;
  /** What the storage itself calls the upload. */
  upload: string;
}

export interface StoredPart {
  partNumber: number;
  eTag: string;
}

export interface StoredObject {
  key: string;
  size: number;
  modifiedAt: Date;
}

/** An upload of which the storage may keep parts. */
export interface UnfinishedUpload extends StorageUpload {
  changedAt: Date;
}

/** The parts named do not make the upload: one is missing, altered, or of another size. */
export class PartsMismatch extends Error {
  override name = 'PartsMismatch';
}

export class StorageFull extends Error {
  override name = 'StorageFull';
}

/** The storage does not answer, or answers that it cannot now: that passes without anyone's doing. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable';
}

/** There are no bytes under a key that should have some. */
export class NoSuchObject extends Error {
  override name = 'NoSuchObject';
}

/** Keeps bytes under keys that are ours, never what a user typed. Everything streams; nothing is held in memory. */
export interface Storage {
  /** Begins an upload in parts; the answer is what the storage calls it. */
  begin(key: string): Promise<string>;
  /** A URL that takes the PUT of one part of exactly that size without a credential and answers with its ETag. */
  partUrl(target: StorageUpload, part: { partNumber: number; size: number }, expiresInSeconds: number): Promise<string>;
  /**
   * Makes the object from its parts, all or nothing. `found`: an earlier call made it, of the same parts or of others.
   */
  complete(target: StorageUpload, parts: readonly StoredPart[], size: number): Promise<'made' | 'found'>;
  /** Forgets an upload and its parts; one that is unknown already is fine. */
  abort(target: StorageUpload): Promise<void>;
  /** A URL that serves the object with ranges and without a credential, as a download under that name. */
  downloadUrl(key: string, shown: { name: string; mimeType: string }, expiresInSeconds: number): Promise<string>;
  /** The bytes from `start` (the first), at most `length` of them (all); past the end there are none. */
  read(key: string, range?: { start?: number; length?: number }): Promise<Readable>;
  /** Deletes an object; one that is gone already is fine. */
  remove(key: string): Promise<void>;
  /** The size of an object in bytes; null where there is none. */
  sizeOf(key: string): Promise<number | null>;
  /** Every object, in no particular order and as the storage gives them out: never all at once. */
  list(): AsyncIterable<StoredObject>;
  /** Every upload that is neither completed nor aborted. The disk keeps no key of it and gives the upload as its key. */
  listUploads(): AsyncIterable<UnfinishedUpload>;
  isReachable(): Promise<boolean>;
  /** The routes behind signed URLs, where the storage has none of its own. */
  router?: Router;
}
