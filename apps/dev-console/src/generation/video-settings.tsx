import { Group, Input, SegmentedControl, Slider, Switch, Text } from '@mantine/core';
import { type ModelRecord, pixelsOf, type VideoConfigs } from '@review/contract';
import { useId } from 'react';
import classes from './video-settings.module.css';

interface VideoSettingsProps {
  limits: NonNullable<ModelRecord['configs']>;
  value: VideoConfigs;
  onChange: (configs: VideoConfigs) => void;
}

/** The settings that the chosen video model supports, within its limits. */
export function VideoSettings({ limits, value, onChange }: VideoSettingsProps) {
  const id = useId();
  const { resolution = '', aspectRatio = '', durationSeconds = 0, generateAudio = false } = value;
  const { min, max } = limits.durationSeconds;
  const { width, height } = pixelsOf(resolution, aspectRatio);
  const change = (changed: VideoConfigs) => onChange({ ...value, ...changed });
  return (
    <div className={classes.settings}>
      <Input.Wrapper label="Resolution" labelElement="div" description={`${width} × ${height} pixels`}>
        <SegmentedControl
          mt={6}
          aria-label="Resolution"
          value={resolution}
          onChange={(chosen) => change({ resolution: chosen })}
          data={limits.resolution.values}
        />
      </Input.Wrapper>
      <Input.Wrapper label="Aspect ratio" labelElement="div" description="Width to height">
        <SegmentedControl
          mt={6}
          aria-label="Aspect ratio"
          value={aspectRatio}
          onChange={(chosen) => change({ aspectRatio: chosen })}
          data={limits.aspectRatio.values}
        />
      </Input.Wrapper>
      <Input.Wrapper
        label="Length"
        labelElement="div"
        description={min === max ? `Always ${min} seconds` : `${min} to ${max} seconds`}
      >
        <Group mt={6} gap="md" wrap="nowrap" h={36}>
          {min < max && (
            <Slider
              className={classes.slider}
              thumbLabel="Length in seconds"
              min={min}
              max={max}
              value={durationSeconds}
              onChange={(chosen) => change({ durationSeconds: chosen })}
              label={null}
            />
          )}
          <Text className="numbers" fw={550}>
            {durationSeconds} s
          </Text>
        </Group>
      </Input.Wrapper>
      <Input.Wrapper
        label="Audio"
        labelElement="div"
        description={limits.generateAudio.supported ? 'Sound that fits the picture' : 'This model makes no sound'}
      >
        <Group mt={6} h={36}>
          <Switch
            id={id}
            label="Generate audio"
            checked={generateAudio}
            disabled={!limits.generateAudio.supported}
            onChange={(event) => change({ generateAudio: event.target.checked })}
          />
        </Group>
      </Input.Wrapper>
    </div>
  );
}
