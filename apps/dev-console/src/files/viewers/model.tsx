import { Button, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { usePins } from '../../comments/pins.ts';
import { useDesk } from '../../review/desk.tsx';
import { renditionOf } from '../media/renditions.ts';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

const ModelScene = lazy(() => import('./model-scene.tsx'));

/** The names of what draws 3D by the processor. Not all browsers report it as a performance caveat. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function hasGraphicsCard(): boolean {
  const context = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (context === null) return false;
  const names = context.getExtension('WEBGL_debug_renderer_info');
  const renderer = names === null ? '' : String(context.getParameter(names.UNMASKED_RENDERER_WEBGL));
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return !SOFTWARE.test(renderer);
}

/** A 3D viewer. Without a graphics card, a scene blocks the page for seconds, so it is loaded only on request. */
export default function ModelViewer(props: ViewerProps) {
  const { file } = props;
  const desk = useDesk();
  const [isOpen, setOpen] = useState(hasGraphicsCard);
  const isPinSelected = usePins(file).some(({ id, drawn }) => drawn && id === desk?.selected);
  if (!isOpen && (desk?.tool != null || isPinSelected)) setOpen(true);

  const poster = renditionOf(file, 'POSTER');
  const still =
    poster === undefined ? (
      <div className={classes.model} />
    ) : (
      <img src={poster.url} alt={`Poster of ${file.name}`} className={classes.still} />
    );
  if (isOpen) {
    return (
      <Suspense fallback={<div className={classes.frame}>{still}</div>}>
        <ModelScene {...props} />
      </Suspense>
    );
  }
  return (
    <div className={classes.frame}>
      {still}
      <div className={classes.bar}>
        <Text size="sm" flex={1}>
          This computer has no graphics card for 3D. Showing the model can freeze the page for some seconds.
        </Text>
        <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
          Show in 3D
        </Button>
      </div>
    </div>
  );
}
