import { type RefObject, useEffect, useRef, useState } from 'react';

export const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4];
const MAX_SHUTTLE = 8;

/** Speed, volume, loop and shuttle (J, K, L) of a media element. `range` limits the loop, in seconds. */
export function useTransport(element: RefObject<HTMLMediaElement | null>, range: { from: number; to: number } | null) {
  const [speed, setSpeed] = useState(1);
  const [volume, setVolume] = useState(1);
  const [isMuted, setMuted] = useState(false);
  const [isLooping, setLooping] = useState(false);
  /** Times the speed; negative backwards, 0 while it does not shuttle. */
  const [shuttle, setShuttle] = useState(0);
  const from = range?.from ?? null;
  const to = range?.to ?? null;

  useEffect(() => {
    const media = element.current;
    if (media === null) return;
    media.playbackRate = speed * Math.max(1, shuttle);
    media.volume = volume;
    media.muted = isMuted;
    media.loop = isLooping && from === null;
  });

  useEffect(() => {
    const media = element.current;
    if (media === null || !isLooping || from === null || to === null) return;
    const turn = () => {
      if (!media.paused && (media.currentTime >= to || media.currentTime < from - 0.1)) media.currentTime = from;
    };
    media.addEventListener('timeupdate', turn);
    return () => media.removeEventListener('timeupdate', turn);
  }, [element, isLooping, from, to]);

  // Browsers play forwards only: backwards is a seek for each picture that was drawn.
  const last = useRef(0);
  useEffect(() => {
    const media = element.current;
    if (media === null || shuttle >= 0) return;
    let request = 0;
    last.current = performance.now();
    const step = (now: number) => {
      if (!media.seeking) {
        media.currentTime = Math.max(0, media.currentTime + (shuttle * speed * (now - last.current)) / 1000);
        last.current = now;
        if (media.currentTime === 0) return setShuttle(0);
      }
      request = requestAnimationFrame(step);
    };
    request = requestAnimationFrame(step);
    return () => cancelAnimationFrame(request);
  }, [element, shuttle, speed]);

  return {
    speed,
    setSpeed,
    volume,
    setVolume(next: number) {
      setVolume(next);
      setMuted(next === 0);
    },
    isMuted,
    toggleMute: () => setMuted(!isMuted),
    isLooping,
    toggleLoop: () => setLooping(!isLooping),
    shuttle,
    forward() {
      setShuttle(shuttle > 0 ? Math.min(MAX_SHUTTLE, shuttle * 2) : 1);
      element.current?.play().catch(() => {});
    },
    backward() {
      element.current?.pause();
      setShuttle(shuttle < 0 ? Math.max(-MAX_SHUTTLE, shuttle * 2) : -1);
    },
    stop() {
      setShuttle(0);
      element.current?.pause();
    },
  };
}

export type Transport = ReturnType<typeof useTransport>;
