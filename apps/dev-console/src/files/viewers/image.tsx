import { Button } from '@mantine/core';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { Stage } from './stage.tsx';
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
  const [view, setView] = useState(FITTED);
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
    if (event.buttons === 1) pan(event.movementX, event.movementY);
  }

  const keys = {
    '+': () => setView((before) => zoomed(before, STEP)),
    '=': () => setView((before) => zoomed(before, STEP)),
    '-': () => setView((before) => zoomed(before, 1 / STEP)),
    '0': () => setView(FITTED),
    ArrowLeft: () => pan(PAN, 0),
    ArrowRight: () => pan(-PAN, 0),
    ArrowUp: () => pan(0, PAN),
    ArrowDown: () => pan(0, -PAN),
  };

  return (
    <div className={classes.frame}>
      <Stage
        ref={stage}
        className={classes.canvas}
        label="Picture: plus and minus zoom, the arrows pan, 0 fits"
        keys={keys}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onDoubleClick={() => setView((before) => (before.scale === 1 ? zoomed(before, 2) : FITTED))}
      >
        <img
          src={url}
          alt={file.generation?.prompt ?? file.name}
          draggable={false}
          className={classes.picture}
          style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
        />
      </Stage>
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
        <output className="numbers">{Math.round(view.scale * 100)} %</output>
      </div>
    </div>
  );
}
