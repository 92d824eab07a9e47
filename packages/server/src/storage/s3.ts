import { Readable } from 'node:stream';
import { attachment, servedType } from './download-headers.ts';
import { plainName } from './names.ts';
import { orderedParts } from './parts.ts';
import { parseS3Address } from './s3-address.ts';
import { loadS3, type S3 } from './s3-client.ts';
import { isNotImplemented, s3Code, toStorageError } from './s3-errors.ts';
import { putFile } from './s3-put-file.ts';
import { CannotListUploads, NoSuchObject, PartsMismatch, type Storage } from './storage.ts';

const WRONG_PARTS = ['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall'];
const MISSING = ['NoSuchKey', 'NotFound'];
const MAX_SIGNATURE_SECONDS = 7 * 24 * 60 * 60;
const PROBE_TIMEOUT_MS = 3000;

/** Stores objects in one bucket of an S3-compatible service. Credentials come from the default chain of the AWS SDK. */
export function openS3(address: string): Storage & AsyncDisposable {
  const at = parseS3Address(address);
  let loading: Promise<S3> | undefined;

  const objectAt = (key: string) => ({ Bucket: at.bucket, Key: at.prefix + plainName(key) });
  const expiry = (seconds: number) => ({ expiresIn: Math.min(seconds, MAX_SIGNATURE_SECONDS) });

  async function withS3<T>(work: (s3: S3) => Promise<T>): Promise<T> {
    loading ??= loadS3(at);
    const s3 = await loading;
    return work(s3).catch((error: unknown) => {
      throw toStorageError(error);
    });
  }

  async function sizeOf(key: string): Promise<number | null> {
    const object = objectAt(key);
    try {
      const head = await withS3(({ client, commands }) => client.send(new commands.HeadObjectCommand(object)));
      return head.ContentLength ?? null;
    } catch (error) {
      if (MISSING.includes(s3Code(error))) return null;
      throw error;
    }
  }

  async function remove(key: string): Promise<void> {
    const object = objectAt(key);
    await withS3(({ client, commands }) => client.send(new commands.DeleteObjectCommand(object)));
  }

  return {
    async put(key, bytes) {
      const object = { ...objectAt(key), Body: bytes };
      await withS3(({ client, commands }) => client.send(new commands.PutObjectCommand(object)));
    },

    async putFile(key, path, size) {
      const object = objectAt(key);
      await withS3((s3) => putFile(s3, object, path, size));
    },

    async begin(key) {
      const object = objectAt(key);
      const begun = await withS3(({ client, commands }) =>
        client.send(new commands.CreateMultipartUploadCommand(object)),
      );
      if (begun.UploadId === undefined) throw new Error('S3 answered CreateMultipartUpload without an UploadId.');
      return begun.UploadId;
    },

    async partUrl({ key, upload }, { partNumber, size }, expiresInSeconds) {
      const part = { ...objectAt(key), UploadId: upload, PartNumber: partNumber, ContentLength: size };
      return withS3(({ client, commands, getSignedUrl }) =>
        getSignedUrl(client, new commands.UploadPartCommand(part), expiry(expiresInSeconds)),
      );
    },

    async complete({ key, upload }, parts, size) {
      const Parts = orderedParts(parts).map(({ partNumber, eTag }) => ({ PartNumber: partNumber, ETag: `"${eTag}"` }));
      const whole = { ...objectAt(key), UploadId: upload, MultipartUpload: { Parts } };
      try {
        await withS3(({ client, commands }) => client.send(new commands.CompleteMultipartUploadCommand(whole)));
      } catch (error) {
        const code = s3Code(error);
        if (WRONG_PARTS.includes(code)) throw new PartsMismatch('A part is missing, altered or too small.');
        // An earlier call may have succeeded, or this one with its response lost: the object's size shows it.
        if ((await sizeOf(key)) === size) return 'found';
        throw code === 'NoSuchUpload' ? new PartsMismatch('There is no such upload.') : error;
      }
      const stored = await sizeOf(key);
      if (stored === size) return 'made';
      await remove(key);
      throw new PartsMismatch(`The parts have ${stored} bytes, not ${size}.`);
    },

    async abort({ key, upload }) {
      const target = { ...objectAt(key), UploadId: upload };
      try {
        await withS3(({ client, commands }) => client.send(new commands.AbortMultipartUploadCommand(target)));
      } catch (error) {
        if (s3Code(error) !== 'NoSuchUpload') throw error;
      }
    },

    async downloadUrl(key, { name, mimeType }, expiresInSeconds, signingDate) {
      const download = {
        ...objectAt(key),
        ResponseContentDisposition: attachment(name),
        ResponseContentType: servedType(mimeType),
        ResponseCacheControl: `private, max-age=${expiresInSeconds}`,
      };
      return withS3(({ client, commands, getSignedUrl }) =>
        getSignedUrl(client, new commands.GetObjectCommand(download), {
          ...expiry(expiresInSeconds),
          ...(signingDate && { signingDate }),
        }),
      );
    },

    async read(key, { start = 0, length } = {}) {
      const last = length === undefined ? '' : start + length - 1;
      const Range = start === 0 && length === undefined ? undefined : `bytes=${start}-${last}`;
      const wanted = { ...objectAt(key), Range };
      if (length === 0) return Readable.from([]);
      try {
        const { Body } = await withS3(({ client, commands }) => client.send(new commands.GetObjectCommand(wanted)));
        if (!(Body instanceof Readable)) throw new Error('S3 answered GetObject without a stream.');
        return Body;
      } catch (error) {
        if (s3Code(error) === 'InvalidRange') return Readable.from([]);
        throw MISSING.includes(s3Code(error)) ? new NoSuchObject(`There is no object ${key}.`) : error;
      }
    },

    remove,
    sizeOf,

    async *list() {
      let from: { ContinuationToken?: string } = {};
      for (;;) {
        const asked = { Bucket: at.bucket, Prefix: at.prefix, ...from };
        const page = await withS3(({ client, commands }) => client.send(new commands.ListObjectsV2Command(asked)));
        for (const { Key = '', Size = 0, LastModified = new Date() } of page.Contents ?? []) {
          yield { key: Key.slice(at.prefix.length), size: Size, modifiedAt: LastModified };
        }
        if (page.NextContinuationToken === undefined) return;
        from = { ContinuationToken: page.NextContinuationToken };
      }
    },

    async *listUploads() {
      let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
      for (;;) {
        const asked = { Bucket: at.bucket, Prefix: at.prefix, ...from };
        const page = await withS3(({ client, commands }) =>
          client.send(new commands.ListMultipartUploadsCommand(asked)),
        ).catch((error: unknown) => {
          throw isNotImplemented(error) ? new CannotListUploads('The storage cannot list unfinished uploads.') : error;
        });
        for (const { Key = '', UploadId = '', Initiated = new Date() } of page.Uploads ?? []) {
          yield { key: Key.slice(at.prefix.length), upload: UploadId, changedAt: Initiated };
        }
        if (page.IsTruncated !== true) return;
        from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      }
    },

    async isReachable() {
      try {
        const within = { abortSignal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
        await withS3(({ client, commands }) =>
          client.send(new commands.HeadBucketCommand({ Bucket: at.bucket }), within),
        );
        return true;
      } catch {
        return false;
      }
    },

    async [Symbol.asyncDispose]() {
      const s3 = await loading;
      s3?.client.destroy();
    },
  };
}
