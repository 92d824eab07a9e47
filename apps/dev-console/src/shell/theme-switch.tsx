import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core';
import { Icon, type IconName } from '../ui/icon.tsx';
import classes from './theme-switch.module.css';

export const SCHEMES: readonly { value: MantineColorScheme; label: string; icon: IconName }[] = [
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'auto', label: 'As the system', icon: 'screen' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
];

export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <fieldset className={classes.switch} aria-label="Colours">
      {SCHEMES.map(({ value, label, icon }) => (
        <label key={value} className={classes.choice} title={label}>
          <input
            type="radio"
            name="colours"
            aria-label={label}
            checked={colorScheme === value}
            onChange={() => setColorScheme(value)}
          />
          <Icon name={icon} size={16} />
        </label>
      ))}
    </fieldset>
  );
}
