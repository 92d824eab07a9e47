import { type DragEvent, type ReactNode, useState } from 'react';
import classes from './drop-zone.module.css';

interface DropZoneProps {
  /** Why nothing can be dropped here, or null. */
  refusal: string | null;
  label: string;
  onFiles: (files: File[]) => void;
  children: ReactNode;
}

/** Takes files that are dragged onto it. A button beside it does the same for who does not drag. */
export function DropZone({ refusal, label, onFiles, children }: DropZoneProps) {
  const [over, setOver] = useState(false);
  const carriesFiles = (event: DragEvent) => event.dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dragging is one of two ways; the button is the other.
    <div
      className={classes.zone}
      data-over={over || undefined}
      onDragOver={(event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = refusal === null ? 'copy' : 'none';
        setOver(true);
      }}
      onDragLeave={(event) => {
        const left = !(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget);
        if (left) setOver(false);
      }}
      onDrop={(event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        setOver(false);
        if (refusal === null) onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {over && <div className={classes.veil}>{refusal ?? label}</div>}
    </div>
  );
}
