import type { Desk } from '../../review/desk.tsx';
import { Control } from './controls.tsx';

/** Starts and ends drawing. Shows nothing on pages without a desk. */
export const DrawControl = ({ desk }: { desk: Desk | null }) =>
  desk !== null && (
    <Control
      label="Draw"
      shortcut="D"
      icon="pencil"
      isPressed={desk.tool !== null}
      onPress={() => desk.setTool(desk.tool === null ? 'PEN' : null)}
    />
  );
