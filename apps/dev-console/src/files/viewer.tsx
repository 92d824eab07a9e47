import { Skeleton, Text } from '@mantine/core';
import { type ComponentType, lazy, Suspense } from 'react';
import { EmptyState } from '../ui/empty-state.tsx';
import { sizeOf } from '../ui/size.ts';
import type { ViewerProps } from './viewers/viewer-props.ts';

/** The viewer for each kind of content, loaded on first use. */
const VIEWERS: readonly [RegExp, ComponentType<ViewerProps>][] = [
  [/^image\/(png|jpeg|webp|gif|avif)$/, lazy(() => import('./viewers/image.tsx'))],
  [/^video\//, lazy(() => import('./viewers/video.tsx'))],
  [/^application\/pdf$/, lazy(() => import('./viewers/pdf.tsx'))],
  [/^text\//, lazy(() => import('./viewers/text.tsx'))],
  [/^model\/gltf/, lazy(() => import('./viewers/model.tsx'))],
];

export function Viewer(props: ViewerProps) {
  const { mimeType, size } = props.file;
  const [, Fitting] = VIEWERS.find(([type]) => type.test(mimeType ?? '')) ?? [];
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
