import { LETTER_HEIGHT, type Shape } from '@review/contract';
import { getStroke } from 'perfect-freehand';
import { type Frame, lengthOf } from './frame.ts';

type Of<Type extends Shape['type']> = Extract<Shape, { type: Type }>;

/** The outline of a pen stroke as an SVG path. Without pressure, the speed of the pen sets the width. */
function outlineOf({ points, strokeWidth }: Of<'PEN'>, { width, height }: Frame): string {
  const hasPressure = points.some((point) => point.length > 2);
  const outline = getStroke(
    points.map(([x = 0, y = 0, pressure = 0.5]) => [x * width, y * height, pressure]),
    {
      size: lengthOf(strokeWidth) * 1.5,
      thinning: hasPressure ? 0.6 : 0.25,
      simulatePressure: !hasPressure,
      last: true,
    },
  );
  return `M${outline.map(([x = 0, y = 0]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}Z`;
}

function Arrow({ shape, frame: { width, height } }: { shape: Of<'ARROW'>; frame: Frame }) {
  const [[x1 = 0, y1 = 0], [x2 = 0, y2 = 0]] = [shape.from, shape.to];
  const [fromX, fromY, toX, toY] = [x1 * width, y1 * height, x2 * width, y2 * height];
  const angle = Math.atan2(toY - fromY, toX - fromX);
  const head = lengthOf(shape.strokeWidth) * 5;
  const wing = (turn: number) => `${toX - head * Math.cos(angle + turn)} ${toY - head * Math.sin(angle + turn)}`;
  return <path d={`M${fromX} ${fromY}L${toX} ${toY}M${wing(0.5)}L${toX} ${toY}L${wing(-0.5)}`} />;
}

/** One shape as SVG, inside an `svg` whose view box is the frame. A pin of a 3D file has no place on a frame. */
export function ShapeMark({ shape, frame }: { shape: Shape; frame: Frame }) {
  const { width, height } = frame;
  const thickness = lengthOf(shape.strokeWidth);
  switch (shape.type) {
    case 'PEN':
      return <path d={outlineOf(shape, frame)} fill={shape.color} stroke="none" />;
    case 'ARROW':
      return (
        <g stroke={shape.color} strokeWidth={thickness}>
          <Arrow shape={shape} frame={frame} />
        </g>
      );
    case 'LINE': {
      const [[x1 = 0, y1 = 0], [x2 = 0, y2 = 0]] = [shape.from, shape.to];
      const ends = { x1: x1 * width, y1: y1 * height, x2: x2 * width, y2: y2 * height };
      return <line {...ends} stroke={shape.color} strokeWidth={thickness} />;
    }
    case 'RECTANGLE': {
      const box = {
        x: shape.x * width,
        y: shape.y * height,
        width: shape.width * width,
        height: shape.height * height,
      };
      return <rect {...box} stroke={shape.color} strokeWidth={thickness} />;
    }
    case 'ELLIPSE': {
      const [rx, ry] = [(shape.width * width) / 2, (shape.height * height) / 2];
      const centre = { cx: shape.x * width + rx, cy: shape.y * height + ry };
      return <ellipse {...centre} rx={rx} ry={ry} stroke={shape.color} strokeWidth={thickness} />;
    }
    case 'TEXT':
      return (
        <text
          x={shape.x * width}
          y={shape.y * height}
          fontSize={thickness * LETTER_HEIGHT}
          fill={shape.color}
          stroke="rgb(0 0 0 / 65%)"
          strokeWidth={thickness}
          paintOrder="stroke"
          dominantBaseline="hanging"
        >
          {shape.text}
        </text>
      );
    case 'PIN':
      if (shape.z !== undefined) return null;
      return <circle cx={shape.x * width} cy={shape.y * height} r={thickness * 3} fill={shape.color} stroke="#fff" />;
  }
}
