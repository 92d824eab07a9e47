import type { Shape } from '@review/contract';
import type { IconName } from '../../ui/icon.tsx';

export type Tool = Shape['type'];

/** The tools for frames. A 3D file has only pins. */
export const TOOLS: readonly { tool: Tool; label: string; icon: IconName }[] = [
  { tool: 'PEN', label: 'Pen', icon: 'pencil' },
  { tool: 'ARROW', label: 'Arrow', icon: 'arrow' },
  { tool: 'LINE', label: 'Line', icon: 'line' },
  { tool: 'RECTANGLE', label: 'Rectangle', icon: 'stop' },
  { tool: 'ELLIPSE', label: 'Ellipse', icon: 'ellipse' },
  { tool: 'TEXT', label: 'Text', icon: 'letter' },
];

export const COLORS = [
  { label: 'Red', value: '#fa3e3e' },
  { label: 'Yellow', value: '#ffd43b' },
  { label: 'Green', value: '#40c057' },
  { label: 'Blue', value: '#339af0' },
  { label: 'White', value: '#ffffff' },
  { label: 'Black', value: '#000000' },
] as const;

export const WIDTHS = [
  { label: 'Thin', value: 0.003 },
  { label: 'Medium', value: 0.006 },
  { label: 'Thick', value: 0.012 },
] as const;

export interface Ink {
  color: string;
  strokeWidth: number;
}

type Place = readonly [x: number, y: number];

/** The shape between two corners or ends; null for tools that need more than two points. */
export function shapeBetween(tool: Tool, from: Place, to: Place, ink: Ink): Shape | null {
  const [[x1, y1], [x2, y2]] = [from, to];
  switch (tool) {
    case 'ARROW':
    case 'LINE':
      return { type: tool, from: [...from], to: [...to], ...ink };
    case 'RECTANGLE':
    case 'ELLIPSE': {
      const corner = { x: Math.min(x1, x2), y: Math.min(y1, y2) };
      return { type: tool, ...corner, width: Math.abs(x2 - x1), height: Math.abs(y2 - y1), ...ink };
    }
    default:
      return null;
  }
}
