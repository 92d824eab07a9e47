import { findModel, type OutputType, type VideoSettings } from '@review/contract/models';

export interface SandboxRequest {
  outputType: OutputType;
  outputModel: string;
  prompt: string;
  /** The video settings; null for other media. */
  settings: VideoSettings | null;
  references: { name: string }[];
}

/** Receives the progress of a maker. */
export interface Task {
  progress(fraction: number): void;
}

/** Renders a medium to the path. */
export type Maker = (request: SandboxRequest, path: string, task: Task) => Promise<void>;

/** The MIME type, and the extension without its dot. */
export interface FileFormat {
  mimeType: string;
  extension: string;
}

const FORMATS = {
  pdf: { mimeType: 'application/pdf', extension: 'pdf' },
  markdown: { mimeType: 'text/markdown', extension: 'md' },
  IMAGE: { mimeType: 'image/png', extension: 'png' },
  VIDEO: { mimeType: 'video/mp4', extension: 'mp4' },
  '3D': { mimeType: 'model/gltf-binary', extension: 'glb' },
} as const;
export type Medium = keyof typeof FORMATS;

export const formatOf = (medium: Medium): FileFormat => FORMATS[medium];

export function mediumOf({ outputType, outputModel, settings }: SandboxRequest): Medium {
  if (findModel(outputModel)?.outputType !== outputType) {
    throw new TypeError(`${outputModel} does not make ${outputType}.`);
  }
  if (outputType === 'VIDEO' && settings === null) throw new TypeError('A video needs its settings.');
  if (outputType !== 'DOCUMENT') return outputType;
  return outputModel === 'markdown' ? 'markdown' : 'pdf';
}

export const modelTitle = ({ outputModel }: SandboxRequest): string => {
  const name = findModel(outputModel)?.name;
  return name === undefined ? outputModel : `${name} (${outputModel})`;
};
