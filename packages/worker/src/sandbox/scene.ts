import type { Chance } from './chance.ts';
import { toSvgPath, wrapText } from './glyphs.ts';
import { modelTitle, type SandboxRequest } from './request.ts';

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface Scene {
  svg: string;
  /** The box of the text, aligned to even pixels. */
  label: Box;
}

/** Returns a seeded picture with the model and the prompt on a dark panel at the bottom. */
export function sceneOf(
  request: SandboxRequest,
  chance: Chance,
  { width, height }: { width: number; height: number },
): Scene {
  const hue = chance.whole(0, 359);
  const second = (hue + chance.whole(40, 200)) % 360;
  const short = Math.min(width, height);
  const shapes = Array.from({ length: 12 }, () => shape(chance, hue, width, height));
  const margin = even(short * 0.05);
  const label = labelOf(request, margin, width - 2 * margin, short);
  const top = even(height - margin - label.height);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
<defs><linearGradient id="sky" x2="${chance.next().toFixed(2)}" y2="1">
<stop stop-color="${colour(hue, 55, 22)}"/><stop offset="1" stop-color="${colour(second, 60, 45)}"/>
</linearGradient></defs>
<rect width="${width}" height="${height}" fill="url(#sky)"/>
${shapes.join('\n')}
<g transform="translate(0 ${top})">${label.svg}</g>
</svg>`;
  return { svg, label: { left: margin, top, width: width - 2 * margin, height: label.height } };
}

/** Returns only the panel, at the top of a square, for media without a picture. */
export function labelSvg(request: SandboxRequest, side: number): { svg: string; height: number } {
  const { svg, height } = labelOf(request, 0, side, side * 0.75);
  return { svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${svg}</svg>`, height };
}

function labelOf(request: SandboxRequest, left: number, width: number, short: number): { svg: string; height: number } {
  const size = short / 24;
  const padding = size * 0.8;
  const inner = width - 2 * padding;
  const title = wrapText(modelTitle(request), 'DejaVuSans-Bold', size, inner, 2);
  const prompt = wrapText(request.prompt, 'DejaVuSans', size, inner, 5);
  const note = wrapText(noteOf(request), 'DejaVuSans', size * 0.7, inner, 2);
  const promptTop = padding + title.height;
  const noteTop = promptTop + prompt.height + size * 0.3;
  const height = even(noteTop + note.height + padding);
  const start = left + padding;
  const svg = [
    `<rect x="${left}" width="${width}" height="${height}" fill="#10131a"/>`,
    `<path fill="#ffd479" d="${toSvgPath(title, start, padding)}"/>`,
    `<path fill="#ffffff" d="${toSvgPath(prompt, start, promptTop)}"/>`,
    `<path fill="#9fb0c8" d="${toSvgPath(note, start, noteTop)}"/>`,
  ].join('');
  return { svg, height };
}

function noteOf({ settings, references }: SandboxRequest): string {
  const parts = ['made by the sandbox provider'];
  if (settings) {
    parts.push(`${settings.resolution} ${settings.aspectRatio} ${settings.durationSeconds} s`);
    parts.push(settings.generateAudio ? 'with sound' : 'silent');
  }
  if (references.length > 0) parts.push(`${references.length} reference${references.length === 1 ? '' : 's'}`);
  return parts.join(' · ');
}

function shape(chance: Chance, hue: number, width: number, height: number): string {
  const x = Math.round(chance.between(0, width));
  const y = Math.round(chance.between(0, height));
  const size = Math.round(chance.between(0.06, 0.28) * Math.min(width, height));
  const fill = colour((hue + chance.whole(-60, 120) + 360) % 360, chance.whole(50, 85), chance.whole(35, 70));
  const opacity = chance.between(0.25, 0.7).toFixed(2);
  const kind = chance.pick(['disc', 'ring', 'polygon']);
  if (kind === 'disc') return `<circle cx="${x}" cy="${y}" r="${size}" fill="${fill}" opacity="${opacity}"/>`;
  if (kind === 'ring') {
    const line = Math.max(2, Math.round(size / 5));
    return `<circle cx="${x}" cy="${y}" r="${size}" fill="none" stroke="${fill}" stroke-width="${line}" opacity="${opacity}"/>`;
  }
  const corners = chance.whole(3, 7);
  const turn = chance.between(0, Math.PI);
  const points = Array.from({ length: corners }, (_, corner) => {
    const angle = turn + (2 * Math.PI * corner) / corners;
    return `${Math.round(x + size * Math.cos(angle))},${Math.round(y + size * Math.sin(angle))}`;
  });
  return `<polygon points="${points.join(' ')}" fill="${fill}" opacity="${opacity}"/>`;
}

const colour = (hue: number, saturation: number, lightness: number): string =>
  `hsl(${hue},${saturation}%,${lightness}%)`;
const even = (length: number): number => 2 * Math.round(length / 2);
