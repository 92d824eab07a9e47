import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { frameRateOf } from './frame-rate.ts';
import { Pins } from './pins.tsx';
import { Stage } from './stage.tsx';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

const digits = (number: number, count: number) => String(number).padStart(count, '0');

/** For example `1:02.400`. */
function clock(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes}:${digits(Math.floor(milliseconds / 1000) % 60, 2)}.${digits(milliseconds % 1000, 3)}`;
}

/** A video player with frame steps and comment pins on the timeline. */
export default function VideoViewer({ file, url, asked, onPosition }: ViewerProps) {
  const film = useRef<HTMLVideoElement>(null);
  const [time, setTime] = useState(0);
  const [length, setLength] = useState(0);
  const [playing, setPlaying] = useState(false);
  const rate = useQuery({
    queryKey: ['frame rate', file.id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => frameRateOf(url),
  });
  const framesPerSecond = rate.data ?? 24;
  const frameAt = (seconds: number) => Math.floor(seconds * framesPerSecond + 0.001);

  useEffect(() => {
    if (asked !== null && film.current !== null) film.current.currentTime = asked.at / 1000;
  }, [asked]);
  // A cached video may have loaded its metadata before the listener was added.
  useEffect(() => setLength(film.current?.duration || 0), []);

  function seek(seconds: number) {
    const element = film.current;
    if (element === null) return;
    element.currentTime = Math.min(Math.max(0, seconds), element.duration || 0);
  }
  /** Seeks to the middle of a frame, because its boundary times are ambiguous. */
  function step(frames: number) {
    const element = film.current;
    if (element === null) return;
    element.pause();
    seek((frameAt(element.currentTime) + frames + 0.5) / framesPerSecond);
  }
  function toggle() {
    const element = film.current;
    if (element === null) return;
    if (element.paused) void element.play();
    else element.pause();
  }
  function reportPosition() {
    const element = film.current;
    if (element === null) return;
    setTime(element.currentTime);
    onPosition(Math.round(element.currentTime * 1000), element.paused);
  }
  const back = () => step(-1);
  const on = () => step(1);
  const keys = { ',': back, ArrowLeft: back, '.': on, ArrowRight: on, ' ': toggle, k: toggle };

  return (
    <Stage className={classes.frame} label="Video: comma and point step frames, space plays" keys={keys}>
      {/* biome-ignore lint/a11y/useMediaCaption: reviewed files have no captions. */}
      <video
        ref={film}
        src={url}
        preload="auto"
        playsInline
        aria-label={file.generation?.prompt ?? file.name}
        className={classes.film}
        onClick={toggle}
        onDurationChange={(event) => setLength(event.currentTarget.duration)}
        onPlay={() => setPlaying(true)}
        onPause={() => {
          setPlaying(false);
          reportPosition();
        }}
        onTimeUpdate={reportPosition}
        onSeeked={reportPosition}
      />
      <div className={classes.track}>
        <span className={classes.rail}>
          <span className={classes.played} style={{ width: `${(100 * time) / (length || 1)}%` }} />
        </span>
        <input
          type="range"
          className={classes.seek}
          aria-label="Position"
          aria-valuetext={clock(time)}
          min={0}
          max={length || 1}
          step={1 / framesPerSecond}
          value={time}
          onChange={(event) => seek(Number(event.target.value))}
        />
        {length > 0 && <Pins fileId={file.id} durationMs={length * 1000} onJump={(at) => seek(at / 1000)} />}
      </div>
      <div className={classes.bar}>
        <Button size="compact-sm" variant="default" aria-label={playing ? 'Pause' : 'Play'} onClick={toggle}>
          <Icon name={playing ? 'pause' : 'play'} size={14} />
        </Button>
        <Button size="compact-sm" variant="default" aria-label="Previous frame" onClick={back}>
          <Icon name="previous" size={14} />
        </Button>
        <Button size="compact-sm" variant="default" aria-label="Next frame" onClick={on}>
          <Icon name="next" size={14} />
        </Button>
        <output className="numbers">
          {clock(time)} · frame {frameAt(time)}
        </output>
        <span className={classes.spring} />
        <Text size="xs" c="dimmed" visibleFrom="sm">
          , and . step frames · space plays
        </Text>
      </div>
    </Stage>
  );
}
