import { open } from 'node:fs/promises';
import type { S3 } from './s3-client.ts';

/** In memory, so that the SDK can send a failed part again. */
const PART_BYTES = 8 * 1024 ** 2;
const MAX_PARTS = 10_000;

/** Stores a file as an object: in one request, or in parts if it is large. */
export async function putFile(
  { client, commands }: S3,
  object: { Bucket: string; Key: string },
  path: string,
  size: number,
): Promise<void> {
  await using file = await open(path);
  const read = async (position: number, length: number) => {
    const Body = Buffer.alloc(length);
    const { bytesRead } = await file.read(Body, 0, length, position);
    if (bytesRead < length) throw new Error(`${path} has less than ${size} bytes.`);
    return { Body };
  };
  if (size <= PART_BYTES) {
    await client.send(new commands.PutObjectCommand({ ...object, ...(await read(0, size)) }));
    return;
  }
  const { UploadId } = await client.send(new commands.CreateMultipartUploadCommand(object));
  const upload = { ...object, UploadId };
  try {
    const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
    const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
    for (let start = 0; start < size; start += partBytes) {
      const PartNumber = Parts.length + 1;
      const part = { ...upload, PartNumber, ...(await read(start, Math.min(partBytes, size - start))) };
      const { ETag } = await client.send(new commands.UploadPartCommand(part));
      Parts.push({ PartNumber, ETag });
    }
    await client.send(new commands.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  } catch (error) {
    await client.send(new commands.AbortMultipartUploadCommand(upload)).catch(() => {});
    throw error;
  }
}
