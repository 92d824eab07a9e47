import type { Readable } from 'node:stream';
import type { Router } from 'express';

/** A multipart upload in the storage. */
export interface StorageUpload {
  key: string;
  /** The storage's id of the upload. */
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

/** An upload that is neither completed nor aborted. */
export interface UnfinishedUpload extends StorageUpload {
  changedAt: Date;
}

/** The listed parts do not match the upload: one is missing, altered, or of another size. */
export class PartsMismatch extends Error {
  override name = 'PartsMismatch';
}

export class StorageFull extends Error {
  override name = 'StorageFull';
}

/** Some S3 stores do not implement ListMultipartUploads. */
export class CannotListUploads extends Error {
  override name = 'CannotListUploads';
}

/** The storage does not answer or is overloaded. The call can be retried. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable';
}

/** The object of a key is missing. */
export class NoSuchObject extends Error {
  override name = 'NoSuchObject';
}

/** Stores objects under keys that the service generates. Streams all content. */
export interface Storage {
  /** Stores an object of few bytes, atomically. */
  put(key: string, bytes: Buffer): Promise<void>;
  /** Stores a local file of any size as an object, atomically. */
  putFile(key: string, path: string, size: number): Promise<void>;
  /** Starts a multipart upload and returns the storage's id of it. */
  begin(key: string): Promise<string>;
  /**
   * Returns a presigned URL for the PUT of one part of exactly that size. Its response has the part's ETag. With the offset
   * of the part in the object, the disk can complete the upload without copying.
   */
  partUrl(
    target: StorageUpload,
    part: { partNumber: number; size: number; offset?: number },
    expiresInSeconds: number,
  ): Promise<string>;
  /**
   * Makes the object from its parts, atomically. Returns `found` if an earlier call made it, from these or other parts.
   */
  complete(target: StorageUpload, parts: readonly StoredPart[], size: number): Promise<'made' | 'found'>;
  /** Deletes an upload and its parts. Does nothing if the upload does not exist. */
  abort(target: StorageUpload): Promise<void>;
  /**
   * Returns a presigned URL that serves the object, with ranges, as a download of that name. With the same time of signature
   * it is the same URL.
   */
  downloadUrl(
    key: string,
    as: { name: string; mimeType: string },
    expiresInSeconds: number,
    signedAt?: Date,
  ): Promise<string>;
  /** Streams at most `length` bytes from `start`: by default the whole object, beyond its end nothing. */
  read(key: string, range?: { start?: number; length?: number }): Promise<Readable>;
  /** Deletes an object. Does nothing if it does not exist. */
  remove(key: string): Promise<void>;
  /** The size of an object in bytes; null if it does not exist. */
  sizeOf(key: string): Promise<number | null>;
  /** Streams the list of all objects, in no particular order. */
  list(): AsyncIterable<StoredObject>;
  /**
   * Streams the list of unfinished uploads, or throws CannotListUploads. The disk does not store their keys and returns the
   * upload id as the key.
   */
  listUploads(): AsyncIterable<UnfinishedUpload>;
  isReachable(): Promise<boolean>;
  /** Serves the presigned URLs of a storage that has no server of its own. */
  router?: Router;
}
