import { findModel, settingsInEffect, type VideoSettings, type WorkerTask } from '@review/contract';
import { pino } from 'pino';
import sharp from 'sharp';
import type { Host } from '../open.ts';
import { type Double, startDouble } from './double.ts';

type Attachment = WorkerTask['attachments'][number];

export const idOf = (number: number): string => `FX${String(number).padStart(20, '0')}`;

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
    prompt: 'A lamp by the window',
    attachments: [],
    stages: {},
    stored: false,
    ...asked,
    configs: model.video && { ...settingsInEffect(model.video, null), ...asked.configs },
  };
}

export const orderFor = (task: WorkerTask, signal = new AbortController().signal, stage = 'submit') => ({
  task,
  signal,
  stage,
  clientJobId: `${task.fileId}-${stage}`,
});

/** A host that keeps what it logs, and maps models as told. */
export function hostFor(modelMap: Record<string, string> = {}): Host & { logged: string[] } {
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  return { log, logged, wireId: (model, usual) => modelMap[model] ?? usual };
}

export interface Storage extends AsyncDisposable {
  attach(number: number, name: string, mimeType: string, bytes: Buffer): Attachment;
  /** A plain picture of its own colour, under the id of that number. */
  picture(number: number, format?: 'png' | 'jpeg' | 'webp' | 'gif'): Promise<Attachment>;
}

/** A storage from which attachments are read. */
export async function startStorage(): Promise<Storage> {
  const kept = new Map<string, Buffer>();
  const storage: Double = await startDouble(({ path }) => ({ body: kept.get(path) ?? Buffer.alloc(0) }));
  const attach: Storage['attach'] = (number, name, mimeType, bytes) => {
    kept.set(`/${idOf(number)}`, bytes);
    const url = `${storage.url}/${idOf(number)}?signature=secret-of-the-storage`;
    return { id: idOf(number), content: { name, mimeType, size: bytes.length, url } };
  };
  return {
    attach,
    async picture(number, format = 'png') {
      const create = { width: 32, height: 32, channels: 3, background: { r: number * 40, g: 90, b: 90 } } as const;
      const bytes = await sharp({ create }).toFormat(format).toBuffer();
      return attach(number, `picture ${number}.${format}`, `image/${format}`, bytes);
    },
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}
