import type { Family, OutputType } from '@review/contract';
import type { Double, Order } from './double.ts';
import { FAL_KEY, startFal } from './fal.ts';
import { GOOGLE_KEY, startGoogle } from './google.ts';
import { startHunyuan } from './hunyuan3d.ts';
import { KLING_KEY, startKling } from './kling.ts';
import { marked, mediaOf } from './media.ts';
import { startMeshy } from './meshy.ts';
import { MINIMAX_KEY, startMinimax } from './minimax.ts';
import { OPENAI_KEY, promptIn, startOpenAi } from './openai.ts';
import { ARK_KEY, startSeedance } from './seedance.ts';

export interface StartedDouble {
  families: Family[];
  double: Double;
  outputTypeOf(order: Order): OutputType;
  /** The result of a submit; null if it is not unique or not stored unchanged. */
  mediaFor(order: Order, outputModel: string): Promise<Buffer> | Buffer | null;
  /** The settings that point a worker to the double. */
  settings: Record<string, string>;
}

/** Every vendor with a double. */
const STARTS: (() => Promise<StartedDouble>)[] = [
  async () => {
    const double = await startOpenAi();
    const settings = {
      OPENAI_API_KEY: OPENAI_KEY,
      OPENAI_BASE_URL: double.baseUrl,
      DOCUMENT_LLM_API_KEY: OPENAI_KEY,
      DOCUMENT_LLM_BASE_URL: double.baseUrl,
      DOCUMENT_LLM_MODEL: 'writer-1',
    };
    const outputTypeOf = ({ id }: Order) => (id.startsWith('chatcmpl-') ? 'DOCUMENT' : 'IMAGE');
    const textFor = (prompt: string) => `# ${prompt}\n\nIt stands by the window.\n`;
    double.pictureFor = (prompt) => marked(double.picture, prompt);
    double.write = (messages) => ({ text: textFor(promptIn({ messages })) });
    return {
      families: ['gpt-image', 'document'],
      double,
      outputTypeOf,
      mediaFor(order, outputModel) {
        if (outputTypeOf(order) === 'IMAGE') return double.pictureFor(order.prompt);
        // The worker renders the PDF, with the current time in it.
        return outputModel === 'markdown' ? Buffer.from(textFor(order.prompt)) : null;
      },
      settings,
    };
  },
  async () => {
    const double = await startGoogle();
    const settings = { GEMINI_API_KEY: GOOGLE_KEY, GEMINI_BASE_URL: double.url };
    double.pictureFor = (prompt) => marked(double.picture, prompt);
    return {
      families: ['gemini-image', 'veo'],
      double,
      outputTypeOf: ({ id }) => (id.includes('/operations/') ? 'VIDEO' : 'IMAGE'),
      mediaFor: ({ id, prompt }) => {
        const [, name] = id.split('/operations/');
        return name === undefined ? double.pictureFor(prompt) : mediaOf('veo-3.1-generate-preview', name);
      },
      settings,
    };
  },
  async () => {
    const double = await startKling();
    return {
      families: ['kling'],
      double,
      outputTypeOf: () => 'VIDEO',
      mediaFor: ({ id }) => mediaOf('kling-3.0', id),
      settings: { KLING_API_KEY: KLING_KEY, KLING_BASE_URL: double.url },
    };
  },
  async () => {
    const double = await startSeedance();
    return {
      families: ['seedance'],
      double,
      outputTypeOf: () => 'VIDEO',
      mediaFor: ({ id }) => mediaOf('seedance-2.0', id),
      settings: { ARK_API_KEY: ARK_KEY, ARK_BASE_URL: double.baseUrl },
    };
  },
  async () => {
    const double = await startMinimax();
    return {
      families: ['minimax'],
      double,
      outputTypeOf: () => 'VIDEO',
      mediaFor: () => null,
      settings: { MINIMAX_API_KEY: MINIMAX_KEY, MINIMAX_BASE_URL: double.url },
    };
  },
  async () => {
    const double = await startFal();
    return {
      families: ['minimax'],
      double,
      outputTypeOf: () => 'VIDEO',
      mediaFor: () => null,
      settings: { FAL_KEY, FAL_QUEUE_URL: double.url },
    };
  },
  async () => {
    const double = await startMeshy();
    return {
      families: ['meshy'],
      double,
      outputTypeOf: () => '3D',
      mediaFor: ({ id }) => mediaOf('meshy-7', id),
      settings: { MESHY_API_KEY: double.key, MESHY_BASE_URL: double.url },
    };
  },
  async () => {
    const double = await startHunyuan();
    const settings = {
      TENCENTCLOUD_SECRET_ID: double.secretId,
      TENCENTCLOUD_SECRET_KEY: 'secret',
      HUNYUAN_ENDPOINT: double.url,
    };
    return {
      families: ['hunyuan3d'],
      double,
      outputTypeOf: () => '3D',
      mediaFor: ({ id }) => mediaOf('hunyuan3d-3.1', id),
      settings,
    };
  },
];

export const startDoubles = (): Promise<StartedDouble[]> => Promise.all(STARTS.map((start) => start()));
