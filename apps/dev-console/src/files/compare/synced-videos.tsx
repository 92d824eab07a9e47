import { Button, Slider, Stack, Text } from '@mantine/core';
import { type CSSProperties, useCallback, useEffect, useRef, useState } from 'react';
import { anchorText } from '../../comments/anchor.ts';
import { Icon } from '../../ui/icon.tsx';
import { proxyOf } from '../media/renditions.ts';
import { useSource } from '../viewers/use-source.ts';
import { BothComments } from './both-comments.tsx';
import classes from './compare.module.css';
import type { Layering } from './layering.ts';
import { Layers } from './layers.tsx';
import type { Side } from './side.ts';
import { SideHead } from './side-head.tsx';

/** With more drift than this, the right video seeks to the time of the left one. */
const DRIFT_SECONDS = 0.08;
/** How often the comments follow a video that plays. */
const COMMENTS_MS = 250;

interface SyncedVideosProps {
  sides: readonly [Side, Side];
  /** Side by side if undefined. */
  mode: Layering | undefined;
}

const useSideSource = (side: Side) => useSource(side, (side.file && proxyOf(side.file)?.url) ?? side.url);

/** Two synchronised videos with shared controls. The left one sets the time and plays its sound. */
export function SyncedVideos({ sides, mode }: SyncedVideosProps) {
  const leader = useRef<HTMLVideoElement>(null);
  const follower = useRef<HTMLVideoElement>(null);
  const [time, setTime] = useState(0);
  const [length, setLength] = useState(0);
  const [playing, setPlaying] = useState(false);
  const { numerator, denominator } = sides[0].file?.media?.frameRate ?? { numerator: 24, denominator: 1 };
  const frame = denominator / numerator;

  useEffect(() => {
    if (!playing) return;
    let request = 0;
    const follow = () => {
      const [one, other] = [leader.current, follower.current];
      // A film that loads, as in another mode or from a new URL, is paused and at 0.
      if (one !== null && other !== null && !one.paused) {
        setTime(one.currentTime);
        const target = Math.min(one.currentTime, other.duration || 0);
        if (Math.abs(other.currentTime - target) > DRIFT_SECONDS) other.currentTime = target;
      }
      request = requestAnimationFrame(follow);
    };
    request = requestAnimationFrame(follow);
    return () => cancelAnimationFrame(request);
  }, [playing]);

  const seek = useCallback((seconds: number) => {
    const to = Math.min(Math.max(0, seconds), leader.current?.duration || 0);
    for (const film of [leader.current, follower.current]) {
      if (film !== null) film.currentTime = Math.min(to, film.duration || 0);
    }
    setTime(to);
  }, []);
  const jump = useCallback((at: number) => seek(at / 1000), [seek]);
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
    seek(time + frames * frame);
  };
  const films = [leader, follower] as const;
  const sources = [useSideSource(sides[0]), useSideSource(sides[1])] as const;

  const film = (index: 0 | 1, style?: CSSProperties) => {
    const { id, name, file } = sides[index];
    const { source, onFailure } = sources[index];
    return (
      source !== undefined && (
        <video
          ref={films[index]}
          key={id}
          src={source}
          preload="auto"
          playsInline
          muted={index === 1}
          aria-label={`${name}: ${file?.name}`}
          className={classes.film}
          style={style}
          onLoadedMetadata={({ currentTarget }) => {
            if (index === 0) setLength(currentTarget.duration);
            currentTarget.currentTime = Math.min(time, currentTarget.duration);
            // Another mode or file while both play.
            if (playing) void currentTarget.play();
          }}
          onEnded={index === 0 ? pause : undefined}
          onError={() => onFailure(length > 0)}
        />
      )
    );
  };
  const at = Math.round(time * 1000);

  return (
    <Stack gap="md">
      <div className={classes.sides}>
        {([0, 1] as const).map((index) => (
          <section key={sides[index].name} aria-label={sides[index].name} className={classes.side}>
            <SideHead side={sides[index]} />
            {mode === undefined && film(index)}
          </section>
        ))}
      </div>
      {mode !== undefined && <Layers mode={mode}>{film}</Layers>}
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
          step={frame}
          value={time}
          onChange={seek}
        />
        <Text size="sm" className="numbers" component="output">
          {anchorText(at, 'time')}
        </Text>
      </fieldset>
      <BothComments sides={sides} at={playing ? at - (at % COMMENTS_MS) : at} onJump={jump} />
    </Stack>
  );
}
