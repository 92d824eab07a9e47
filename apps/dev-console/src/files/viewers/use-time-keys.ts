import type { Desk } from '../../review/desk.tsx';
import { type Shortcut, useShortcuts } from '../../review/shortcuts.tsx';
import type { Playback } from './use-playback.ts';
import type { Transport } from './use-transport.ts';

interface TimeKeys {
  playback: Playback;
  transport: Transport;
  desk: Desk | null;
  onStep: (steps: number) => void;
  /** What a step is. */
  stepped?: string;
  onFullScreen?: () => void;
}

/** The keys of a video or sound, on the whole page where it has a desk. Returns them. */
export function useTimeKeys({
  playback,
  transport,
  desk,
  onStep,
  stepped = 'one frame',
  onFullScreen,
}: TimeKeys): readonly Shortcut[] {
  const { seek, length } = playback;
  const now = () => desk?.position.current ?? 0;
  /** Sets one end of the range to comment on; the other end stays if it is still beyond. */
  const mark = (end: 'in' | 'out') =>
    desk?.setMarks((before) => {
      const at = now();
      const until = before.anchor === null ? null : before.anchor + (before.duration ?? 0);
      if (end === 'in') return { ...before, anchor: at, duration: until !== null && until > at ? until - at : null };
      const from = before.anchor === null || before.anchor >= at ? 0 : before.anchor;
      return { ...before, anchor: from, duration: at > from ? at - from : null };
    });
  const shortcuts: Shortcut[] = [
    {
      keys: [' '],
      label: 'Play or pause',
      run: () => (transport.shuttle === 0 ? playback.toggle() : transport.stop()),
    },
    { keys: ['j'], label: 'Backwards; again: faster', run: transport.backward },
    { keys: ['k'], label: 'Stop', run: transport.stop },
    { keys: ['l'], label: 'Forwards; again: faster', run: transport.forward },
    { keys: ['ArrowLeft', ','], label: `Back by ${stepped}`, run: () => onStep(-1) },
    { keys: ['ArrowRight', '.'], label: `On by ${stepped}`, run: () => onStep(1) },
    { keys: ['Home'], label: 'To the start', run: () => seek(0) },
    { keys: ['End'], label: 'To the end', run: () => seek(length) },
    { keys: ['m'], label: 'Mute or unmute', run: transport.toggleMute },
    ...(onFullScreen === undefined ? [] : [{ keys: ['f'], label: 'Full screen', run: onFullScreen }]),
    ...(desk === null
      ? []
      : [
          { keys: ['i'], label: 'Start of the range to comment on', run: () => mark('in') },
          { keys: ['o'], label: 'End of the range to comment on', run: () => mark('out') },
        ]),
  ];
  useShortcuts(shortcuts);
  return shortcuts;
}
