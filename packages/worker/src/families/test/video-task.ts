import type { VideoSettings, WorkerTask } from '@review/contract';
import { findModel, settingsInEffect } from '@review/contract';
import { pino } from 'pino';
import sharp from 'sharp';
import type { Host } from '../open.ts';
import { type Double, startDouble } from './double.ts';

export interface Asked {
  prompt?: string;
  configs?: Partial<VideoSettings>;
  attachments?: WorkerTask['attachments'];
}

/** A video as a worker is given it to generate. */
export function videoTask(outputModel: string, { prompt = 'A lamp', configs = {}, attachments = [] }: Asked = {}) {
  const model = findModel(outputModel);
  if (model?.video == null) throw new Error(`There is no video model ${outputModel}.`);
  const task: WorkerTask = {
    fileId: 'FX00000000000000000001',
    family: model.family,
    status: 'RUNNING',
    outputType: 'VIDEO',
    outputModel,
    prompt,
    configs: { ...settingsInEffect(model.video, null), ...configs },
    attachments,
    stages: {},
    stored: false,
  };
  return task;
}

/** What a step gives along with a call. */
export const callFor = (task: WorkerTask) => ({
  task,
  signal: new AbortController().signal,
  stage: 'submit',
  clientJobId: `${task.fileId}-submit`,
});

export const quietHost: Host = { log: pino({ level: 'silent' }), wireId: (_model, usual) => usual };

const idOf = (number: number): string => `FX${String(number).padStart(20, '0')}`;

/** The token by which a prompt names an attachment. */
export const token = (number: number): string => `<#${idOf(number)}>`;

export interface Picture {
  format?: 'png' | 'jpeg' | 'webp' | 'gif';
  width?: number;
  height?: number;
}

export function pictureOf({ format = 'png', width = 320, height = 320 }: Picture = {}): Promise<Buffer> {
  const canvas = { width, height, channels: 3, background: { r: 200, g: 40, b: 40 } } as const;
  return sharp({ create: canvas }).toFormat(format).toBuffer();
}

export interface Pictures extends AsyncDisposable {
  /** A picture, attached under the id of that number. */
  attach(number: number, picture?: Picture): Promise<WorkerTask['attachments'][number]>;
}

/** A storage from which attachments are read. */
export async function startPictures(): Promise<Pictures> {
  const stored = new Map<string, Buffer>();
  const storage: Double = await startDouble(({ path }) => ({ body: stored.get(path) ?? Buffer.alloc(0) }));
  return {
    async attach(number, picture = {}) {
      const { format = 'png' } = picture;
      const [id, bytes] = [idOf(number), await pictureOf(picture)];
      stored.set(`/${id}`, bytes);
      const url = `${storage.url}/${id}`;
      return { id, content: { name: `${id}.${format}`, mimeType: `image/${format}`, size: bytes.length, url } };
    },
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}
