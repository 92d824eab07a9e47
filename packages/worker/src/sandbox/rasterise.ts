import sharp from 'sharp';

// No cache and one thread: a picture is rendered once, and the CPU is shared with the service.
sharp.cache(false);
sharp.concurrency(1);

export const pngOf = (svg: string): Promise<Buffer> => sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();

/** Returns the pixels as RGB, one byte per channel. */
export const pixelsOfSvg = (svg: string): Promise<Buffer> => sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer();
