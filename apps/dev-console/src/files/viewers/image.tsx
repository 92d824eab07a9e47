import { Button, Text } from '@mantine/core';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { useDesk } from '../../review/desk.tsx';
import { DrawingBar } from '../../review/drawing/bar.tsx';
import { DrawingLayer } from '../../review/drawing/layer.tsx';
import { type Shortcut, useShortcuts } from '../../review/shortcuts.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';
import { renditionOf } from '../media/renditions.ts';
import { SHOWN_IMAGES } from '../media/shown-images.ts';
import { DrawControl } from './draw-control.tsx';
import { ShownFrame } from './shown-frame.tsx';
import { keysOf, Stage } from './stage.tsx';
import { useShownShapes } from './use-shown-shapes.ts';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

interface View {
  scale: number;
  x: number;
  y: number;
}

const FITTED: View = { scale: 1, x: 0, y: 0 };
const STEP = 1.25;
const PAN = 60;

/** Zooms around a point, relative to the centre of the stage; the point keeps its position on the screen. */
function zoomed({ scale, x, y }: View, factor: number, point = { x: 0, y: 0 }): View {
  const next = Math.min(16, Math.max(1, scale * factor));
  if (next === 1) return FITTED;
  const ratio = next / scale;
  return { scale: next, x: point.x - (point.x - x) * ratio, y: point.y - (point.y - y) * ratio };
}

/** An image viewer: wheel, keys or buttons zoom, dragging pans. */
export default function ImageViewer({ file, url }: ViewerProps) {
  const poster = SHOWN_IMAGES.test(file.mimeType ?? '') ? undefined : renditionOf(file, 'POSTER');
  const source = poster?.url ?? url;
  const placeholder = file.media?.placeholder ?? null;
  const [view, setView] = useState(FITTED);
  const [loaded, setLoaded] = useState<{ width: number; height: number } | null>(null);
  const desk = useDesk();
  const shapes = useShownShapes(file, desk, () => true);
  const { width, height } = loaded ?? file.media ?? {};
  const ratio = width && height ? width / height : 1;
  const [broken, setBroken] = useState<string | null>(null);
  const stage = useRef<HTMLElement>(null);

  useEffect(() => {
    const element = stage.current;
    // React registers passive wheel listeners, which cannot prevent the page from scrolling.
    const turn = (event: WheelEvent) => {
      if (element === null) return;
      event.preventDefault();
      const { left, top, width, height } = element.getBoundingClientRect();
      const point = { x: event.clientX - left - width / 2, y: event.clientY - top - height / 2 };
      setView((before) => zoomed(before, Math.exp(-event.deltaY / 400), point));
    };
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  }, []);

  const pan = (x: number, y: number) =>
    setView((before) => (before.scale === 1 ? before : { ...before, x: before.x + x, y: before.y + y }));

  function drag(event: PointerEvent) {
    if (event.buttons === 1 && desk?.tool == null) pan(event.movementX, event.movementY);
  }

  const shortcuts: Shortcut[] = [
    { keys: ['+', '='], label: 'Zoom in', run: () => setView((before) => zoomed(before, STEP)) },
    { keys: ['-'], label: 'Zoom out', run: () => setView((before) => zoomed(before, 1 / STEP)) },
    { keys: ['0'], label: 'Fit', run: () => setView(FITTED) },
    { keys: ['ArrowLeft'], label: 'Pan to the left', run: () => pan(PAN, 0) },
    { keys: ['ArrowRight'], label: 'Pan to the right', run: () => pan(-PAN, 0) },
    { keys: ['ArrowUp'], label: 'Pan up', run: () => pan(0, PAN) },
    { keys: ['ArrowDown'], label: 'Pan down', run: () => pan(0, -PAN) },
  ];
  // Arrows that do not pan scroll the page.
  useShortcuts(view.scale > 1 ? shortcuts : shortcuts.slice(0, 3));

  if (broken === source) {
    return (
      <EmptyState icon="warning" title="This browser cannot show this image">
        Download it to look at it with another program.
      </EmptyState>
    );
  }
  return (
    <div className={classes.frame}>
      <Stage
        ref={stage}
        className={classes.canvas}
        label="Picture: plus and minus zoom, the arrows pan, 0 fits"
        keys={keysOf(shortcuts)}
        onPointerDown={(event) => desk?.tool == null && event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onDoubleClick={() => setView((before) => (before.scale === 1 ? zoomed(before, 2) : FITTED))}
      >
        {placeholder !== null && loaded === null && (
          <span className={classes.placeholder} style={{ backgroundImage: `url("${placeholder}")` }} />
        )}
        <ShownFrame
          ratio={ratio}
          natural={loaded?.width}
          transform={`translate(${view.x}px, ${view.y}px) scale(${view.scale})`}
        >
          <img
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              setLoaded({ width: naturalWidth, height: naturalHeight })
            }
            onError={() => setBroken(source)}
            src={source}
            alt={file.generation?.prompt ?? file.name}
            draggable={false}
            className={classes.picture}
          />
          <DrawingLayer ratio={ratio} shapes={shapes} desk={desk} />
        </ShownFrame>
      </Stage>
      {desk !== null && desk.tool !== null && <DrawingBar desk={desk} />}
      <div className={classes.bar}>
        <Button
          size="compact-sm"
          variant="default"
          aria-label="Zoom out"
          onClick={() => setView(zoomed(view, 1 / STEP))}
        >
          <Icon name="minus" size={14} />
        </Button>
        <Button size="compact-sm" variant="default" aria-label="Zoom in" onClick={() => setView(zoomed(view, STEP))}>
          <Icon name="plus" size={14} />
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => setView(FITTED)}>
          Fit
        </Button>
        <output className="numbers">{view.scale > 1 && `${Math.round(view.scale * 100)} % of the fit`}</output>
        <span className={classes.spring} />
        <DrawControl desk={desk} />
        {poster !== undefined && (
          <Text size="xs" c="dimmed">
            A preview of {poster.width} × {poster.height} pixels: browsers do not show {file.mimeType}.
          </Text>
        )}
      </div>
    </div>
  );
}
