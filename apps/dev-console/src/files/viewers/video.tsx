import { Button, Text } from '@mantine/core';
import { type ExactRate, type FileDetails, timecode } from '@review/contract';
import { useEffect, useRef, useState } from 'react';
import { useDesk } from '../../review/desk.tsx';
import { DrawingBar } from '../../review/drawing/bar.tsx';
import { DrawingLayer } from '../../review/drawing/layer.tsx';
import { codecName } from '../media/describe.ts';
import { proxyOf, renditionOf } from '../media/renditions.ts';
import controls from './controls.module.css';
import { Controls } from './controls.tsx';
import { DrawControl } from './draw-control.tsx';
import { ShownFrame } from './shown-frame.tsx';
import { keysOf, Stage } from './stage.tsx';
import { Track } from './track.tsx';
import { UnplayableVideo } from './unplayable-video.tsx';
import { useExactRate } from './use-exact-rate.ts';
import { usePlayback } from './use-playback.ts';
import { useShownShapes } from './use-shown-shapes.ts';
import { useSource } from './use-source.ts';
import { useTimeKeys } from './use-time-keys.ts';
import { useTransport } from './use-transport.ts';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

/** The frame that is shown at a time in seconds. */
const frameOf = (seconds: number, { numerator, denominator }: ExactRate) =>
  Math.floor((seconds * numerator) / denominator + 0.001);

/** A video player with exact timecode, drawings and comment pins on the timeline. Plays the proxy if there is one. */
export default function VideoViewer({ file, url, asked, onPosition }: ViewerProps) {
  const desk = useDesk();
  const proxy = proxyOf(file);
  const [wantsOriginal, setWantsOriginal] = useState(false);
  const { source, isUnplayable, onFailure } = useSource(file, wantsOriginal ? url : (proxy?.url ?? url));
  const [ownRatio, setOwnRatio] = useState(16 / 9);
  const playback = usePlayback<HTMLVideoElement>({ file, asked, onPosition }, onFailure);
  const { element: film, time, length, playing, seek, listeners } = playback;
  const rate = useExactRate(file, url);
  const frame = frameOf(time, rate);
  const marks = desk?.marks;
  const range =
    marks?.anchor != null && marks.duration !== null
      ? { from: marks.anchor / 1000, to: (marks.anchor + marks.duration) / 1000 }
      : null;
  const transport = useTransport(film, range);
  const stage = useRef<HTMLElement>(null);
  const { width, height } = file.media ?? {};
  const ratio = width && height ? width / height : ownRatio;

  const shapes = useShownShapes(file, desk, ({ anchor, duration }) => {
    if (anchor === null) return false;
    return frameOf(anchor / 1000, rate) <= frame && frame <= frameOf((anchor + (duration ?? 0)) / 1000, rate);
  });
  useEffect(() => {
    if (desk === null) return;
    desk.pause.current = () => {
      transport.stop();
      // The position that was last reported may be a quarter of a second old.
      desk.position.current = Math.round((film.current?.currentTime ?? 0) * 1000);
    };
  });
  useEffect(() => {
    // What is drawn belongs to the frame that is shown.
    if (playing) desk?.setTool(null);
  }, [playing]);

  /** Seeks to the middle of a frame, because its boundary times are ambiguous. */
  function step(frames: number) {
    transport.stop();
    const current = frameOf(film.current?.currentTime ?? 0, rate);
    seek(((current + frames + 0.5) * rate.denominator) / rate.numerator);
  }
  function choose(original: boolean) {
    playback.keepPosition();
    setWantsOriginal(original);
  }
  const canFill = document.fullscreenEnabled;
  function fill() {
    if (!canFill) return;
    if (document.fullscreenElement === null) stage.current?.requestFullscreen().catch(() => {});
    else void document.exitFullscreen();
  }
  const shortcuts = useTimeKeys({ playback, transport, desk, onStep: step, onFullScreen: fill });
  const other = proxy !== undefined && (
    <Button size="compact-sm" variant="default" onClick={() => choose(!wantsOriginal)}>
      {wantsOriginal ? 'Play the proxy' : 'Play the original'}
    </Button>
  );
  if (isUnplayable) return <UnplayableVideo file={file} action={other} />;

  const lengthInFrames = file.media?.frameCount ?? frameOf(length, rate);
  return (
    <Stage
      ref={stage}
      className={classes.frame}
      label="Video: arrows step frames, space plays, question mark lists all keys"
      keys={keysOf(shortcuts)}
    >
      <div className={classes.screen}>
        <ShownFrame ratio={ratio}>
          <video
            ref={film}
            src={source}
            poster={renditionOf(file, 'POSTER')?.url}
            preload="auto"
            playsInline
            aria-label={file.generation?.prompt ?? file.name}
            className={classes.film}
            onClick={transport.shuttle === 0 ? playback.toggle : transport.stop}
            {...listeners}
            onSeeked={(event) => {
              // What is drawn belongs to the frame that was shown.
              if (desk !== null && desk.tool !== null) desk.setTool(null);
              listeners.onSeeked(event);
            }}
            onLoadedMetadata={(event) => {
              const { videoWidth, videoHeight } = event.currentTarget;
              if (videoWidth > 0 && videoHeight > 0) setOwnRatio(videoWidth / videoHeight);
              listeners.onLoadedMetadata(event);
            }}
          />
          <DrawingLayer ratio={ratio} shapes={shapes} desk={desk} />
        </ShownFrame>
      </div>
      {desk !== null && desk.tool !== null && <DrawingBar desk={desk} />}
      <Track file={file} playback={playback} step={rate.denominator / rate.numerator} range={range} />
      <Controls
        playback={playback}
        transport={transport}
        onStep={step}
        onFullScreen={canFill ? fill : undefined}
        clock={
          <output className={`numbers ${controls.clock}`}>
            {timecode(frame, rate)}{' '}
            <small>
              / {timecode(lengthInFrames, rate)} · frame {frame}
            </small>
          </output>
        }
      >
        <DrawControl desk={desk} />
      </Controls>
      {proxy !== undefined && (
        <div className={classes.bar}>
          <Text size="xs" c="dimmed" role="status">
            {wantsOriginal ? 'The original' : proxyText(file, proxy.height)}
          </Text>
          <span className={classes.spring} />
          {other}
        </div>
      )}
    </Stage>
  );
}

function proxyText({ media }: FileDetails, height: number | null): string {
  const codec = media?.videoCodec == null ? '' : `${codecName(media.videoCodec)} `;
  return `${height}p proxy of the ${codec}original`;
}
