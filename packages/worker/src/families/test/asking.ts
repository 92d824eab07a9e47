import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findModel, settingsInEffect, type VideoSettings, type WorkerTask } from '@review/contract';
import { pino } from 'pino';
import sharp from 'sharp';
import { readProviders } from '../../config.ts';
import type { AdapterContext } from '../adapter-context.ts';
import type { Family, Output } from '../family.ts';
import { openFamilies } from '../open.ts';
import { sandboxFamily } from '../sandbox.ts';
import { type Double, startDouble } from './double.ts';

type Attachment = WorkerTask['attachments'][number];

export const idOf = (number: number): string => `FX${String(number).padStart(20, '0')}`;

/** The token by which a prompt names an attachment. */
export const token = (number: number): string => `<#${idOf(number)}>`;

/** Returns a task of a worker. */
export function taskFor(
  outputModel: string,
  asked: Partial<Omit<WorkerTask, 'configs'>> & { configs?: Partial<VideoSettings> } = {},
): WorkerTask {
  const model = findModel(outputModel);
  if (model === undefined) throw new Error(`There is no model ${outputModel}.`);
  return {
    fileId: idOf(0),
    family: model.family,
    status: 'RUNNING',
    outputType: model.outputType,
    outputModel,
    prompt: 'A lamp',
    provider: null,
    attachments: [],
    stages: {},
    stored: false,
    ...asked,
    configs: model.video && { ...settingsInEffect(model.video, null), ...asked.configs },
  };
}

/** The arguments that a step passes to an adapter. */
export const callFor = (task: WorkerTask, signal = new AbortController().signal, stage = 'submit') => ({
  task,
  signal,
  stage,
  clientJobId: `${task.fileId}-${stage}`,
});

/** Returns an adapter context that records the log, with a model map. */
export function contextFor(
  modelMap: Record<string, string> = {},
  logged: string[] = [],
): AdapterContext & { logged: readonly string[] } {
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  return { log, logged, providerModelId: (model, usual) => modelMap[model] ?? usual };
}

/** Opens the adapter of a model with these settings. */
export function familyWith(settings: Record<string, string>, outputModel: string): Family {
  const sandbox = sandboxFamily({ jobMs: 0, now: Date.now });
  const { family } = openFamilies(readProviders(settings), sandbox, pino({ level: 'silent' }));
  return family(taskFor(outputModel).family, 'live');
}

export interface Picture {
  format?: 'png' | 'jpeg' | 'webp' | 'gif';
  width?: number;
  height?: number;
}

export function pictureOf({ format = 'png', width = 320, height = 320 }: Picture = {}, red = 200): Promise<Buffer> {
  const create = { width, height, channels: 3, background: { r: red, g: 90, b: 90 } } as const;
  return sharp({ create }).toFormat(format).toBuffer();
}

export interface Storage extends AsyncDisposable {
  /** The content by attachment id. */
  kept: ReadonlyMap<string, Buffer>;
  attach(number: number, name: string, mimeType: string, bytes: Buffer): Attachment;
  /** Adds a plain picture under the id of that number. */
  picture(number: number, picture?: Picture): Promise<Attachment>;
}

/** Starts a storage that serves attachments. */
export async function startStorage(): Promise<Storage> {
  const kept = new Map<string, Buffer>();
  const storage: Double = await startDouble(({ path }) => {
    const bytes = kept.get(path.slice(1));
    return bytes === undefined ? { status: 404 } : { body: bytes };
  });
  const attach: Storage['attach'] = (number, name, mimeType, bytes) => {
    const id = idOf(number);
    kept.set(id, bytes);
    const url = `${storage.url}/${id}?signature=secret-of-the-storage`;
    return { id, content: { name, mimeType, size: bytes.length, url } };
  };
  return {
    kept,
    attach,
    async picture(number, picture = {}) {
      const { format = 'png' } = picture;
      return attach(number, `picture ${number}.${format}`, `image/${format}`, await pictureOf(picture, number * 40));
    },
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}

/** Downloads the result of a family. */
export async function downloaded(family: Family, task: WorkerTask, output: Output): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'review-result-'));
  try {
    const path = join(folder, 'result');
    await family.download({ ...callFor(task), output, path, onProgress: () => {} });
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
