import { type MantineColorScheme, SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { Icon, type IconName } from '../ui/icon.tsx';

export const SCHEMES: readonly { value: MantineColorScheme; label: string; icon: IconName }[] = [
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'auto', label: 'As the system', icon: 'screen' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
];

export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      aria-label="Colour scheme"
      size="xs"
      fullWidth
      value={colorScheme}
      onChange={(value) => setColorScheme(SCHEMES.find((scheme) => scheme.value === value)?.value ?? 'auto')}
      data={SCHEMES.map(({ value, label, icon }) => ({ value, label: <Icon name={icon} label={label} /> }))}
    />
  );
}
