import sharp from 'sharp';
import { z } from 'zod';

const Item = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string() }),
    role: z.enum(['reference_image', 'first_frame', 'last_frame']),
  }),
]);

/** The request format of Ark and MiniMax: a list of text and pictures. */
export const Content = z
  .array(Item)
  .refine((items) => items.filter(({ type }) => type === 'text').length === 1, 'exactly one text')
  .refine((items) => !(rolesOf(items).has('reference_image') && hasFrames(items)), 'frames and references do not mix');
export type Content = z.infer<typeof Item>[];

const rolesOf = (items: Content): Set<string> =>
  new Set(items.flatMap((item) => (item.type === 'image_url' ? [item.role] : [])));

export const hasFrames = (items: Content): boolean =>
  rolesOf(items).has('first_frame') || rolesOf(items).has('last_frame');

export const textOf = (items: Content): string =>
  items.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join();

/** Returns the fault of a picture whose declared type is not its actual one. */
export async function pictureFault(
  url: string,
  { formats, side }: { formats: string[]; side: { min: number; max: number } },
): Promise<string | null> {
  const [, declared = '', base64 = ''] = /^data:image\/([a-z]+);base64,([A-Za-z0-9+/]+=*)$/.exec(url) ?? [];
  if (base64 === '') return 'the picture is no data address';
  const { format, width, height } = await sharp(Buffer.from(base64, 'base64')).metadata();
  if (format !== declared || !formats.includes(format)) return `${format} is declared as ${declared}`;
  const isFitting = Math.min(width, height) >= side.min && Math.max(width, height) <= side.max;
  const ratio = width / height;
  return isFitting && ratio >= 0.4 && ratio <= 2.5 ? null : `${width}x${height} is not taken`;
}

export const picturesIn = (items: Content): string[] =>
  items.flatMap((item) => (item.type === 'image_url' ? [item.image_url.url] : []));
