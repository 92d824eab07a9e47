import { Button, Slider, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { anchorText } from '../../comments/anchor.ts';
import { Icon } from '../../ui/icon.tsx';
import classes from './compare.module.css';
import type { Side } from './side.ts';
import { SideHead } from './side-head.tsx';

/** With more drift than this, the right video seeks to the time of the left one. */
const DRIFT_SECONDS = 0.08;
const FRAME_SECONDS = 1 / 24;

/** Two synchronised videos with shared controls. The left one sets the time and plays its sound. */
export function SyncedVideos({ sides }: { sides: readonly [Side, Side] }) {
  const leader = useRef<HTMLVideoElement>(null);
  const follower = useRef<HTMLVideoElement>(null);
  const [time, setTime] = useState(0);
  const [length, setLength] = useState(0);
  const [playing, setPlaying] = useState(false);

  useEffect(() => {
    if (!playing) return;
    let request = 0;
    const follow = () => {
      const [one, other] = [leader.current, follower.current];
      if (one !== null && other !== null) {
        setTime(one.currentTime);
        const target = Math.min(one.currentTime, other.duration || 0);
        if (Math.abs(other.currentTime - target) > DRIFT_SECONDS) other.currentTime = target;
      }
      request = requestAnimationFrame(follow);
    };
    request = requestAnimationFrame(follow);
    return () => cancelAnimationFrame(request);
  }, [playing]);

  function seek(seconds: number) {
    const to = Math.min(Math.max(0, seconds), length);
    for (const film of [leader.current, follower.current]) {
      if (film !== null) film.currentTime = Math.min(to, film.duration || 0);
    }
    setTime(to);
  }
  function pause() {
    leader.current?.pause();
    follower.current?.pause();
    setPlaying(false);
    seek(leader.current?.currentTime ?? 0);
  }
  async function play() {
    setPlaying(true);
    await Promise.all([leader.current?.play(), follower.current?.play()]).catch(() => setPlaying(false));
  }
  const step = (frames: number) => {
    if (playing) pause();
    seek(time + frames * FRAME_SECONDS);
  };
  const films = [leader, follower] as const;

  return (
    <Stack gap="md">
      <div className={classes.sides}>
        {sides.map((side, index) => (
          <section key={side.name} aria-label={side.name} className={classes.side}>
            <SideHead side={side} />
            {side.url !== undefined && (
              <video
                ref={films[index]}
                key={side.id}
                src={side.url}
                preload="auto"
                playsInline
                muted={index === 1}
                aria-label={`${side.name}: ${side.file?.name}`}
                className={classes.film}
                onLoadedMetadata={({ currentTarget }) => {
                  if (index === 0) setLength(currentTarget.duration);
                  currentTarget.currentTime = Math.min(time, currentTarget.duration);
                }}
                onEnded={index === 0 ? pause : undefined}
              />
            )}
          </section>
        ))}
      </div>
      <fieldset className={classes.controls} aria-label="Both videos">
        <Button
          variant="default"
          size="compact-md"
          aria-label={playing ? 'Pause both' : 'Play both'}
          onClick={() => (playing ? pause() : void play())}
        >
          <Icon name={playing ? 'pause' : 'play'} size={16} />
        </Button>
        <Button variant="default" size="compact-md" aria-label="Previous frame of both" onClick={() => step(-1)}>
          <Icon name="previous" size={16} />
        </Button>
        <Button variant="default" size="compact-md" aria-label="Next frame of both" onClick={() => step(1)}>
          <Icon name="next" size={16} />
        </Button>
        <Slider
          className={classes.track}
          thumbLabel="Position in both"
          label={null}
          min={0}
          max={length || 1}
          step={FRAME_SECONDS}
          value={time}
          onChange={seek}
        />
        <Text size="sm" className="numbers" component="output">
          {anchorText(Math.round(time * 1000), 'time')}
        </Text>
      </fieldset>
    </Stack>
  );
}
