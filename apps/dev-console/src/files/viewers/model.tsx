import '@google/model-viewer';
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

interface ModelViewerAttributes extends HTMLAttributes<HTMLElement> {
  src: string;
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
      'model-viewer': DetailedHTMLProps<ModelViewerAttributes, HTMLElement>;
    }
  }
}

const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A 3D viewer: dragging or the arrow keys orbit, the wheel zooms. */
export default function ModelViewer({ file, url }: ViewerProps) {
  return (
    <div className={classes.frame}>
      <model-viewer
        className={classes.model}
        src={url}
        alt={file.generation?.prompt ?? file.name}
        camera-controls
        auto-rotate={!still}
        shadow-intensity="0.6"
        interaction-prompt="none"
        loading="eager"
      />
    </div>
  );
}
