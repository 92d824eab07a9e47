import { VisuallyHidden } from '@mantine/core';
import type { FileRecord } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { type PointerEvent, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { Tile } from '../../ui/tile.tsx';
import { iconOf } from '../kind.ts';
import { fileQuery } from '../queries.ts';
import { FilmFrame } from './film-frame.tsx';
import classes from './media.module.css';
import { filmstripOf } from './renditions.ts';

type Shown = Pick<FileRecord, 'id' | 'mimeType' | 'generation' | 'media' | 'thumbnailUrl'>;

/** The picture of a file in a list, beside its name. Moving the pointer over the picture of a video shows its course. */
export function Thumbnail({ file }: { file: Shown }) {
  const { id, media, thumbnailUrl } = file;
  const [share, setShare] = useState<number | null>(null);
  const isFilm = media?.kind === 'VIDEO' && media.status === 'READY';
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setShare(Math.min(Math.max(0, (event.clientX - left) / width), 1));
  };
  const reason = media?.error?.message ?? null;
  return (
    <Tile
      icon={iconOf(file)}
      data-media={media?.status}
      title={media?.status === 'PENDING' ? 'The preview is being made.' : (reason ?? undefined)}
      onPointerMove={isFilm ? point : undefined}
      onPointerLeave={isFilm ? () => setShare(null) : undefined}
    >
      <Picture url={thumbnailUrl} placeholder={media?.placeholder ?? null} />
      {share !== null && media?.durationMs != null && <Course id={id} at={share * media.durationMs} share={share} />}
      {reason !== null && (
        <span className={classes.failed}>
          <Icon name="warning" size={12} />
          <VisuallyHidden>No preview: {reason}</VisuallyHidden>
        </span>
      )}
    </Tile>
  );
}

/** A decorative picture over its blurred placeholder. Nothing if it cannot be loaded. */
export function Picture({ url, placeholder }: { url: string | null; placeholder: string | null }) {
  const [broken, setBroken] = useState<string | null>(null);
  const [loaded, setLoaded] = useState<string | null>(null);
  return (
    <>
      {placeholder !== null && (url === null || url !== loaded) && (
        <span className={classes.placeholder} style={{ backgroundImage: `url("${placeholder}")` }} />
      )}
      {url !== null && url !== broken && (
        <img
          src={url}
          alt=""
          loading="lazy"
          decoding="async"
          draggable={false}
          className={classes.picture}
          // A cached picture may have loaded before React has mounted the element.
          ref={(image) => {
            if (image?.complete) setLoaded(url);
          }}
          onLoad={() => setLoaded(url)}
          onError={() => setBroken(url)}
        />
      )}
    </>
  );
}

function Course({ id, at, share }: { id: string; at: number; share: number }) {
  const { data: file } = useQuery(fileQuery(id));
  const strip = file && filmstripOf(file);
  if (strip === undefined) return null;
  return (
    <span className={classes.course}>
      <FilmFrame strip={strip} at={at} />
      <span className={classes.needle} style={{ left: `${share * 100}%` }} />
    </span>
  );
}
