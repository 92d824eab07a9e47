import type { ComponentProps } from 'react';
import { Icon, type IconName } from './icon.tsx';
import classes from './tile.module.css';

interface TileProps extends ComponentProps<'span'> {
  /** Shown while there is no picture. */
  icon: IconName;
}

/** The place of a picture in a list. */
export const Tile = ({ icon, children, ...rest }: TileProps) => (
  <span {...rest} className={classes.tile}>
    <Icon name={icon} size={20} />
    {children}
  </span>
);
