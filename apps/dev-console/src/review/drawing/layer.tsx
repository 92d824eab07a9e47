import { MAX_POINTS, type Shape } from '@review/contract';
import { type PointerEvent, useRef, useState } from 'react';
import type { Desk } from '../desk.tsx';
import classes from './drawing.module.css';
import { frameOf, placeOf } from './frame.ts';
import { ShapeMark } from './shapes.tsx';
import { TextField } from './text-field.tsx';
import { shapeBetween } from './tools.ts';

/** Points of a pen closer than this, as a share of the frame, are left out. */
const NEAR = 0.0012;
/** A shape that is smaller is a click, not a drawing. */
const SMALL = 0.004;

type Place = [x: number, y: number];
const distance = ([x1 = 0, y1 = 0]: readonly number[], [x2 = 0, y2 = 0]: readonly number[]) =>
  Math.hypot(x2 - x1, y2 - y1);

interface LayerProps {
  /** Width by height of the shown frame. */
  ratio: number;
  shapes: readonly Shape[];
  /** Absent where nothing can be drawn. */
  desk?: Desk | null;
}

/** The shapes over the frame that the parent shows, and the surface that new ones are drawn on. */
export function DrawingLayer({ ratio, shapes, desk = null }: LayerProps) {
  const frame = frameOf(ratio);
  const start = useRef<Place | null>(null);
  const [current, setCurrent] = useState<Shape | null>(null);
  const [text, setText] = useState<Place | null>(null);
  const tool = desk?.tool ?? null;
  const used = shapes.reduce((sum, shape) => sum + (shape.type === 'PEN' ? shape.points.length : 0), 0);

  function begin(event: PointerEvent<SVGSVGElement>) {
    if (desk === null || tool === null || event.button !== 0) return;
    event.preventDefault();
    const place = placeOf(event.currentTarget, event);
    if (tool === 'TEXT') return setText(place);
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = place;
    if (tool === 'PEN') setCurrent({ type: 'PEN', points: [pointOf(place, event)], ...desk.ink });
  }
  function draw(event: PointerEvent<SVGSVGElement>) {
    const from = start.current;
    if (desk === null || tool === null || from === null) return;
    const surface = event.currentTarget;
    if (tool !== 'PEN') return setCurrent(shapeBetween(tool, from, placeOf(surface, event), desk.ink));
    const merged = event.nativeEvent.getCoalescedEvents?.() ?? [];
    const places = (merged.length > 0 ? merged : [event.nativeEvent]).map((each) =>
      pointOf(placeOf(surface, each), each),
    );
    setCurrent((before) => {
      if (before?.type !== 'PEN') return before;
      const points = [...before.points];
      for (const place of places) {
        const last = points.at(-1);
        if (last !== undefined && distance(last, place) < NEAR) continue;
        if (used + points.length < MAX_POINTS) points.push(place);
      }
      return { ...before, points };
    });
  }
  function end() {
    start.current = null;
    if (current !== null && !isClick(current)) desk?.add(current);
    setCurrent(null);
  }

  return (
    <>
      <svg
        className={classes.layer}
        viewBox={`0 0 ${frame.width} ${frame.height}`}
        preserveAspectRatio="none"
        data-drawing={tool === null ? undefined : true}
        data-shapes={shapes.length}
        role={shapes.length > 0 ? 'img' : undefined}
        aria-label={shapes.length > 0 ? describe(shapes) : undefined}
        aria-hidden={shapes.length === 0 || undefined}
        onPointerDown={begin}
        onPointerMove={draw}
        onPointerUp={end}
        onPointerCancel={end}
      >
        {[...shapes, ...(current === null ? [] : [current])].map((shape, index) => (
          <ShapeMark key={index} shape={shape} frame={frame} />
        ))}
      </svg>
      {desk !== null && text !== null && (
        <TextField
          place={text}
          ink={desk.ink}
          onEnd={(words) => {
            setText(null);
            if (words !== '') desk.add({ type: 'TEXT', x: text[0], y: text[1], text: words, ...desk.ink });
          }}
        />
      )}
    </>
  );
}

/** Mice and fingers report a constant pressure. */
const pointOf = (place: Place, { pointerType, pressure }: { pointerType: string; pressure: number }): number[] =>
  pointerType === 'pen' ? [...place, Math.round(pressure * 1000) / 1000] : place;

function isClick(shape: Shape): boolean {
  if (shape.type === 'ARROW' || shape.type === 'LINE') return distance(shape.from, shape.to) < SMALL;
  return 'width' in shape && shape.width < SMALL && shape.height < SMALL;
}

function describe(shapes: readonly Shape[]): string {
  const texts = shapes.flatMap((shape) => (shape.type === 'TEXT' ? [shape.text] : []));
  return `Drawing of ${shapes.length} ${shapes.length === 1 ? 'shape' : 'shapes'}${texts.map((text) => `: ${text}`).join('')}`;
}
