import type { WorkerTask } from '@review/contract';
import sharp from 'sharp';
import { startDouble } from './double.ts';

/** Pictures in a storage on this host, as attachments of a task. */
export async function storePictures(...types: ('png' | 'jpeg' | 'webp' | 'gif')[]) {
  const pictures = await Promise.all(
    types.map((type, index) =>
      sharp({ create: { width: 300 + index, height: 300, channels: 3, background: '#c60' } })
        .toFormat(type)
        .toBuffer(),
    ),
  );
  const storage = await startDouble(({ path }) => {
    const bytes = pictures[Number(path.slice(1))];
    return bytes === undefined ? { status: 404 } : { body: bytes };
  });
  const attachments: WorkerTask['attachments'] = pictures.map((bytes, index) => ({
    id: `FX1000000000000000000${index}`,
    content: {
      name: `view-${index}.${types[index]}`,
      mimeType: `image/${types[index]}`,
      size: bytes.length,
      url: `${storage.url}/${index}`,
    },
  }));
  return { pictures, attachments, [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() };
}
