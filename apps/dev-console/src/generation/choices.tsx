import { Text } from '@mantine/core';
import { type ModelRecord, OUTPUT_TYPES, type OutputType } from '@review/contract';
import { OUTPUTS } from '../models/queries.ts';
import { Icon } from '../ui/icon.tsx';
import classes from './choices.module.css';

export function TypeChoice({ value, onChoose }: { value: OutputType; onChoose: (type: OutputType) => void }) {
  return (
    <fieldset className={classes.types}>
      <legend>Type</legend>
      {OUTPUT_TYPES.map((type) => (
        <label key={type} className={classes.type}>
          <input type="radio" name="type" checked={value === type} onChange={() => onChoose(type)} />
          <Icon name={OUTPUTS[type].icon} size={20} />
          {OUTPUTS[type].label}
        </label>
      ))}
    </fieldset>
  );
}

interface ModelChoiceProps {
  models: readonly ModelRecord[];
  value: string;
  onChoose: (model: ModelRecord) => void;
}

export function ModelChoice({ models, value, onChoose }: ModelChoiceProps) {
  return (
    <fieldset className={classes.models}>
      <legend>Model</legend>
      {models.map((model) => (
        <label key={model.id} className={classes.model}>
          <input type="radio" name="model" checked={value === model.id} onChange={() => onChoose(model)} />
          <span>{model.name}</span>
          <Text component="span" size="xs" c="dimmed">
            {model.provider === 'live' ? 'live' : 'sandbox'}
            {model.configs && ` · up\u00a0to\u00a0${model.configs.durationSeconds.max}\u00a0s`}
          </Text>
        </label>
      ))}
    </fieldset>
  );
}
