import type { FileDetails, Filmstrip, Rendition } from '@review/contract';

type Media = Pick<FileDetails, 'renditions'>;
export type FilmstripRendition = Rendition & { filmstrip: Filmstrip };

/** Screens up to this width, in device pixels, get the small proxy. */
const SMALL_SCREEN = 960;

export const renditionOf = ({ renditions }: Media, kind: Rendition['kind']): Rendition | undefined =>
  renditions.find((rendition) => rendition.kind === kind);

export const filmstripOf = ({ renditions }: Media): FilmstripRendition | undefined =>
  renditions.find((rendition): rendition is FilmstripRendition => rendition.filmstrip !== null);

/** The proxy that fits the screen. A video has one only if browsers cannot play it, or if it is too heavy for them. */
export function proxyOf({ renditions }: Media): Rendition | undefined {
  const proxies = renditions.filter(({ kind }) => kind === 'PROXY').sort((a, b) => (a.height ?? 0) - (b.height ?? 0));
  return window.screen.width * window.devicePixelRatio <= SMALL_SCREEN ? proxies[0] : proxies.at(-1);
}
