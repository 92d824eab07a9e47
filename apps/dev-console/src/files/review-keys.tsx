import type { FileDetails } from '@review/contract';
import { useDesk } from '../review/desk.tsx';
import type { Tool } from '../review/drawing/tools.ts';
import { useShortcuts } from '../review/shortcuts.tsx';
import { kindOf } from './kind.ts';

/** The first tool for a file; null if nothing can be drawn on it. */
function toolFor(file: FileDetails): Tool | null {
  const kind = kindOf(file);
  if (kind === 'model') return 'PIN';
  const isDrawable = kind === 'image' || kind === 'video' || file.mimeType === 'application/pdf';
  return isDrawable ? 'PEN' : null;
}

/** The keys of a file page beside those of its viewer. */
export function ReviewKeys({ file, isShown }: { file: FileDetails; isShown: boolean }) {
  const desk = useDesk();
  const tool = toolFor(file);
  useShortcuts([
    { keys: ['c'], label: 'Write a comment', run: () => desk?.composer.current?.focus() },
    ...(tool === null || !isShown
      ? []
      : [{ keys: ['d'], label: 'Draw', run: () => desk?.setTool(desk.tool === null ? tool : null) }]),
  ]);
  return null;
}
