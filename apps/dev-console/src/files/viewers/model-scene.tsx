import '@google/model-viewer';
import type { ModelViewerElement } from '@google/model-viewer';
import type { Shape } from '@review/contract';
import { type DetailedHTMLProps, type HTMLAttributes, type PointerEvent, useRef } from 'react';
import { useDesk } from '../../review/desk.tsx';
import { DrawingBar } from '../../review/drawing/bar.tsx';
import { renditionOf } from '../media/renditions.ts';
import { Control } from './controls.tsx';
import { useShownShapes } from './use-shown-shapes.ts';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

interface ModelViewerAttributes extends HTMLAttributes<HTMLElement> {
  src: string;
  poster?: string | undefined;
  alt: string;
  'camera-controls': boolean;
  'auto-rotate': boolean;
  'shadow-intensity': string;
  'interaction-prompt': 'none';
  loading: 'eager';
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'model-viewer': DetailedHTMLProps<ModelViewerAttributes, ModelViewerElement>;
    }
  }
}

const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
/** A pointer that moves more turns the model. */
const CLICK_PX = 4;

type Placed = Extract<Shape, { type: 'PIN' }> & { z: number };
const isPlaced = (shape: Shape): shape is Placed => shape.type === 'PIN' && shape.z !== undefined;

/** The scene of a model: dragging or the arrow keys orbit, the wheel zooms. Pins stay on their point of the model. */
export default function ModelScene({ file, url }: ViewerProps) {
  const desk = useDesk();
  const viewer = useRef<ModelViewerElement>(null);
  const pressed = useRef<readonly [number, number] | null>(null);
  const pins = useShownShapes(file, desk, () => true).filter(isPlaced);
  const isPinning = desk?.tool != null;

  function place({ clientX, clientY }: PointerEvent) {
    const [x, y] = pressed.current ?? [Number.NaN, 0];
    if (desk === null || !isPinning || !(Math.hypot(clientX - x, clientY - y) < CLICK_PX)) return;
    const hit = viewer.current?.positionAndNormalFromPoint(clientX, clientY);
    if (hit == null) return;
    const { x: px, y: py, z } = hit.position;
    desk.add({ type: 'PIN', x: px, y: py, z, ...desk.ink });
  }

  return (
    <div className={classes.frame}>
      <model-viewer
        ref={viewer}
        className={classes.model}
        src={url}
        poster={renditionOf(file, 'POSTER')?.url}
        alt={file.generation?.prompt ?? file.name}
        camera-controls
        auto-rotate={!still && !isPinning && pins.length === 0}
        shadow-intensity="0.6"
        interaction-prompt="none"
        loading="eager"
        onPointerDown={({ clientX, clientY }) => {
          pressed.current = [clientX, clientY];
        }}
        onPointerUp={place}
      >
        {pins.map(({ x, y, z, color }, index) => (
          <span
            // Two people may set a pin on the same point. The scene reads the position once, when the element is added.
            key={`${index} ${x} ${y} ${z}`}
            slot={`hotspot-${index}`}
            data-position={[x, y, z].map((length) => `${length.toFixed(5)}m`).join(' ')}
            className={classes.spot}
            style={{ borderColor: color }}
            role="img"
            aria-label={`Pin ${index + 1}`}
          >
            {index + 1}
          </span>
        ))}
      </model-viewer>
      {desk !== null && isPinning && <DrawingBar desk={desk} />}
      {desk !== null && (
        <div className={classes.bar}>
          <span className={classes.spring} />
          <Control
            label="Set pins"
            shortcut="D"
            icon="pin"
            isPressed={isPinning}
            onPress={() => desk.setTool(isPinning ? null : 'PIN')}
          />
        </div>
      )}
    </div>
  );
}
