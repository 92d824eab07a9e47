import { type DragEvent, type ReactNode, useState } from 'react';
import classes from './drop-zone.module.css';

interface DropZoneProps {
  /** Why uploads are not allowed here, or null. */
  refusal: string | null;
  label: string;
  onFiles: (files: File[]) => void;
  children: ReactNode;
}

/** Accepts dropped files. Pages also offer a button, because not every user can drag. */
export function DropZone({ refusal, label, onFiles, children }: DropZoneProps) {
  const [over, setOver] = useState(false);
  const carriesFiles = (event: DragEvent) => event.dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a button offers the same without dragging.
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
