import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useDesk } from '../../review/desk.tsx';
import { codecName } from '../media/describe.ts';
import { proxyOf, renditionOf } from '../media/renditions.ts';
import { clock } from './clock.ts';
import controls from './controls.module.css';
import { Controls } from './controls.tsx';
import { keysOf, Stage } from './stage.tsx';
import { Track } from './track.tsx';
import { usePlayback } from './use-playback.ts';
import { useSource } from './use-source.ts';
import { useTimeKeys } from './use-time-keys.ts';
import { useTransport } from './use-transport.ts';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';
import { Waveform } from './waveform.tsx';

const STEP_SECONDS = 5;

/** A sound player with its waveform and comment pins on the timeline. */
export default function AudioViewer({ file, url, asked, onPosition }: ViewerProps) {
  const { source, isUnplayable, onFailure } = useSource(file, proxyOf(file)?.url ?? url);
  const playback = usePlayback<HTMLAudioElement>({ file, asked, onPosition }, onFailure);
  const { element, time, length, seek, listeners } = playback;
  const desk = useDesk();
  const waveform = renditionOf(file, 'WAVEFORM');
  const peaks = useQuery({
    queryKey: ['waveform', file.id, file.updatedAt],
    enabled: waveform !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => readPeaks(await (await fetch(waveform?.url ?? '', { signal })).json()),
  });
  const marks = desk?.marks;
  const range =
    marks?.anchor != null && marks.duration !== null
      ? { from: marks.anchor / 1000, to: (marks.anchor + marks.duration) / 1000 }
      : null;
  const transport = useTransport(element, range);
  const shortcuts = useTimeKeys({
    playback,
    transport,
    desk,
    onStep: (steps) => seek(time + steps * STEP_SECONDS),
    stepped: `${STEP_SECONDS} seconds`,
  });
  useEffect(() => {
    if (desk === null) return;
    desk.pause.current = () => {
      transport.stop();
      // The position that was last reported may be a quarter of a second old.
      desk.position.current = Math.round((element.current?.currentTime ?? 0) * 1000);
    };
  });
  const codec = file.media?.audioCodec ?? null;
  return (
    <Stage
      className={classes.frame}
      label={`Sound: arrows move by ${STEP_SECONDS} seconds, space plays`}
      keys={keysOf(shortcuts)}
    >
      <audio
        ref={element}
        src={source}
        preload="auto"
        aria-label={file.generation?.prompt ?? file.name}
        {...listeners}
      />
      <Track file={file} playback={playback} step={0.01} range={range}>
        <Waveform peaks={peaks.data ?? []} share={time / (length || 1)} />
      </Track>
      {isUnplayable ? (
        <Text size="sm" role="status" className={classes.bar}>
          <b>This browser cannot play {codec === null ? `sound of the type ${file.mimeType}` : codecName(codec)}.</b>{' '}
          Download the file to play it with another program.
        </Text>
      ) : (
        <Controls
          playback={playback}
          transport={transport}
          clock={
            <output className={`numbers ${controls.clock}`}>
              {clock(time)} / {clock(length)}
            </output>
          }
        />
      )}
    </Stage>
  );
}

/** The loudest amplitudes of equal parts of the sound, from 0 to 1. */
function readPeaks(json: unknown): number[] {
  const values = typeof json === 'object' && json !== null && 'peaks' in json ? json.peaks : json;
  if (!Array.isArray(values)) return [];
  const peaks = values.map((value) => Math.abs(Number(value)) || 0);
  const loudest = Math.max(...peaks, Number.MIN_VALUE);
  return peaks.map((peak) => peak / loudest);
}
