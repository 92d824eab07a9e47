import sharp from 'sharp';

const RASTER_LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];

/** Lets sharp read only the formats of this type: an SVG that is declared as another type must not be rendered. */
export function limitLoaders(mimeType: string): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  const loaders = mimeType === 'image/svg+xml' ? ['Svg'] : RASTER_LOADERS;
  // Buffers and streams have operations of their own, whose names begin with that of the format.
  sharp.unblock({ operation: loaders.map((name) => `VipsForeignLoad${name}`) });
}
