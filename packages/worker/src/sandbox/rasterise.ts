import sharp from 'sharp';

// One picture at a time: a cache would only hold memory, and more threads would take the service's own processors.
sharp.cache(false);
sharp.concurrency(1);

export const pngOf = (svg: string): Promise<Buffer> => sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();

/** Red, green and blue, one byte each. */
export const pixelsOfSvg = (svg: string): Promise<Buffer> => sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer();
