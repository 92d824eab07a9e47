import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../../ui/icon.tsx';
import classes from './controls.module.css';
import type { Playback } from './use-playback.ts';
import { SPEEDS, type Transport } from './use-transport.ts';

interface ControlProps {
  label: string;
  /** The key that does the same. */
  shortcut?: string;
  icon: IconName;
  isPressed?: boolean;
  onPress: () => void;
}

export const Control = ({ label, shortcut, icon, isPressed, onPress }: ControlProps) => (
  <button
    type="button"
    className={classes.control}
    aria-label={label}
    aria-pressed={isPressed}
    title={shortcut === undefined ? label : `${label} (${shortcut})`}
    onClick={onPress}
  >
    <Icon name={icon} size={17} />
  </button>
);

interface ControlsProps {
  playback: Playback;
  transport: Transport;
  onStep?: (frames: number) => void;
  onFullScreen?: (() => void) | undefined;
  /** The time and the length. */
  clock: ReactNode;
  /** Further controls, at the right. */
  children?: ReactNode;
}

/** The controls of a video or sound. */
export function Controls({ playback, transport, onStep, onFullScreen, clock, children }: ControlsProps) {
  const { playing, toggle } = playback;
  const { speed, volume, isMuted, isLooping, shuttle } = transport;
  const runs = playing || shuttle < 0;
  return (
    <div className={classes.controls}>
      <Control
        label={runs ? 'Pause' : 'Play'}
        shortcut="Space"
        icon={runs ? 'pause' : 'play'}
        onPress={shuttle === 0 ? toggle : transport.stop}
      />
      {onStep !== undefined && (
        <>
          <Control label="Previous frame" shortcut="←" icon="previous" onPress={() => onStep(-1)} />
          <Control label="Next frame" shortcut="→" icon="next" onPress={() => onStep(1)} />
        </>
      )}
      <Control label="Loop" icon="loop" isPressed={isLooping} onPress={transport.toggleLoop} />
      <span className={classes.volume}>
        <Control
          label={isMuted ? 'Sound on' : 'Mute'}
          shortcut="M"
          icon={isMuted ? 'mute' : 'volume'}
          onPress={transport.toggleMute}
        />
        <input
          type="range"
          aria-label="Volume"
          min={0}
          max={1}
          step={0.05}
          value={isMuted ? 0 : volume}
          onChange={({ target }) => transport.setVolume(target.valueAsNumber)}
        />
      </span>
      {clock}
      <span className={classes.spring} />
      {Math.abs(shuttle) > 1 || shuttle < 0 ? (
        <output className="numbers">{shuttle} ×</output>
      ) : (
        <NativeSelect
          aria-label="Speed"
          size="xs"
          w="4.2rem"
          value={String(speed)}
          data={SPEEDS.map((each) => ({ value: String(each), label: `${each} ×` }))}
          onChange={({ target }) => transport.setSpeed(Number(target.value))}
        />
      )}
      {children}
      {onFullScreen !== undefined && <Control label="Full screen" shortcut="F" icon="expand" onPress={onFullScreen} />}
    </div>
  );
}
