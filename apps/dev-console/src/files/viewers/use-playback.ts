import { type SyntheticEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ViewerProps } from './viewer-props.ts';

/** The state and the controls of a video or sound. Times are in seconds. `onFailure` is called if the source does not play. */
export function usePlayback<Media extends HTMLMediaElement>(
  { file, asked, onPosition }: Pick<ViewerProps, 'file' | 'asked' | 'onPosition'>,
  onFailure: (hasPlayed: boolean) => void,
) {
  const element = useRef<Media>(null);
  /** Where to continue after another source has loaded. */
  const resumeAt = useRef(0);
  const [time, setTime] = useState(0);
  const [duration, setDuration] = useState(0);
  const [playing, setPlaying] = useState(false);
  const length = duration > 0 && Number.isFinite(duration) ? duration : (file.media?.durationMs ?? 0) / 1000;

  useEffect(() => {
    if (asked !== null && element.current !== null) element.current.currentTime = asked.at / 1000;
  }, [asked]);

  function load(media: HTMLMediaElement) {
    // A browser that cannot decode the picture plays the sound alone.
    if (media instanceof HTMLVideoElement && media.videoWidth === 0 && file.media?.width != null)
      return onFailure(false);
    if (resumeAt.current > 0) media.currentTime = resumeAt.current;
    resumeAt.current = 0;
    setDuration(media.duration);
    // A comment can be pinned before the first play.
    onPosition(Math.round(media.currentTime * 1000), false);
  }
  const onMount = useEffectEvent(() => {
    const media = element.current;
    if (media === null) return;
    if (media.error !== null) onFailure(false);
    else if (media.readyState > 0) load(media);
  });
  // The events of content that loads before React has mounted the element are lost.
  useEffect(() => onMount(), []);

  function seek(seconds: number) {
    if (element.current !== null) element.current.currentTime = Math.min(Math.max(0, seconds), length);
  }
  function toggle() {
    const media = element.current;
    if (media === null) return;
    // Rejects if the source cannot be played, which the error event reports.
    if (media.paused) media.play().catch(() => {});
    else media.pause();
  }
  // `timeupdate` comes four times a second; the frames of a video are shown as they come.
  useEffect(() => {
    const media = element.current;
    if (!playing || !(media instanceof HTMLVideoElement)) return;
    let request = 0;
    const show: VideoFrameRequestCallback = (_now, { mediaTime }) => {
      setTime(mediaTime);
      request = media.requestVideoFrameCallback(show);
    };
    request = media.requestVideoFrameCallback(show);
    return () => media.cancelVideoFrameCallback(request);
  }, [playing]);

  function keepPosition() {
    // A source that failed before its metadata is at 0: the position to resume at is the former one.
    resumeAt.current = element.current?.currentTime || resumeAt.current;
  }
  function report({ currentTarget: { currentTime, paused } }: SyntheticEvent<HTMLMediaElement>) {
    setTime(currentTime);
    onPosition(Math.round(currentTime * 1000), paused);
  }
  return {
    element,
    time,
    length,
    playing,
    seek,
    toggle,
    /** Call before the source changes. */
    keepPosition,
    listeners: {
      onDurationChange: ({ currentTarget }: SyntheticEvent<HTMLMediaElement>) => setDuration(currentTarget.duration),
      onLoadedMetadata: ({ currentTarget }: SyntheticEvent<HTMLMediaElement>) => load(currentTarget),
      onError() {
        keepPosition();
        setPlaying(false);
        onFailure(duration > 0);
      },
      onPlay: () => setPlaying(true),
      onPause: (event: SyntheticEvent<HTMLMediaElement>) => {
        setPlaying(false);
        report(event);
      },
      onTimeUpdate: report,
      onSeeked: report,
    },
  };
}

export type Playback = Pick<
  ReturnType<typeof usePlayback<HTMLMediaElement>>,
  'time' | 'length' | 'playing' | 'seek' | 'toggle'
>;
