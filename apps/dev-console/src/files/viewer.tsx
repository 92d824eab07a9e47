import { Skeleton, Text } from '@mantine/core';
import type { FileDetails } from '@review/contract';
import { type ComponentType, lazy, Suspense } from 'react';
import { EmptyState } from '../ui/empty-state.tsx';
import { sizeOf } from '../ui/size.ts';
import { SHOWN_IMAGES } from './media/shown-images.ts';
import type { ViewerProps } from './viewers/viewer-props.ts';

const ImageViewer = lazy(() => import('./viewers/image.tsx'));
const VideoViewer = lazy(() => import('./viewers/video.tsx'));
const AudioViewer = lazy(() => import('./viewers/audio.tsx'));

/** The viewer for each kind of content, loaded on first use. */
const VIEWERS: readonly [RegExp, ComponentType<ViewerProps>][] = [
  [SHOWN_IMAGES, ImageViewer],
  [/^video\//, VideoViewer],
  [/^audio\//, AudioViewer],
  [/^application\/pdf$/, lazy(() => import('./viewers/pdf.tsx'))],
  [/^text\//, lazy(() => import('./viewers/text.tsx'))],
  [/^model\/gltf/, lazy(() => import('./viewers/model.tsx'))],
];

function viewerOf({ mimeType, media, renditions }: FileDetails): ComponentType<ViewerProps> | undefined {
  const [, fitting] = VIEWERS.find(([type]) => type.test(mimeType ?? '')) ?? [];
  if (fitting !== undefined) return fitting;
  if (media?.kind === 'VIDEO') return VideoViewer;
  return renditions.some(({ kind }) => kind === 'POSTER') ? ImageViewer : undefined;
}

export function Viewer(props: ViewerProps) {
  const { mimeType, size } = props.file;
  const Fitting = viewerOf(props.file);
  if (Fitting === undefined) {
    return (
      <EmptyState icon="document" title="No preview for this kind of file">
        <Text>
          {mimeType ?? 'Unknown type'}
          {size !== null && `, ${sizeOf(size)}`}. Download it to look at it.
        </Text>
      </EmptyState>
    );
  }
  return (
    <Suspense fallback={<Skeleton h={420} />}>
      <Fitting {...props} />
    </Suspense>
  );
}
