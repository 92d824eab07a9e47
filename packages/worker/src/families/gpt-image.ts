import type { ImageEditStreamEvent, ImageGenStreamEvent } from 'openai/resources/images';
import { z } from 'zod';
import type { OpenAiAccount } from '../provider-settings.ts';
import { providerModels } from './account-models.ts';
import type { AdapterContext } from './adapter-context.ts';
import { entries, number, word } from './answer-fields.ts';
import type { Call, Family } from './family.ts';
import { inHand, writeInHand } from './in-hand.ts';
import { callOpenAi, Incomprehensible, openAiClient, probeOpenAi } from './openai.ts';
import { namedPrompt, type PictureLimits, type Reference, readPictures } from './references.ts';

const LIMITS: PictureLimits = { types: ['image/png', 'image/jpeg', 'image/webp'], mostBytes: 50 * 1024 * 1024 - 1 };

/** A draft counts its number; the picture itself does not. */
const Event = z.object({ type: word, b64_json: word, partial_image_index: number }).catch({});
const WholeAnswer = z.object({ data: entries({ b64_json: word }) }).catch({ data: [] });

/** OpenAI's images: one call, whose answer is the picture. There is no job that could be asked for later. */
export function gptImage(account: OpenAiAccount, context: AdapterContext): Family {
  const vendor = { name: 'OpenAI', secrets: [account.apiKey], log: context.log };
  const client = openAiClient(account);

  async function draw({ task, signal }: Call, pictures: readonly Reference[]): Promise<Buffer> {
    const { images } = await client();
    const order = {
      model: context.providerModelId(task.outputModel, task.outputModel),
      prompt: namedPrompt(task, (position) => `image ${position}`),
      n: 1,
      size: 'auto',
      quality: 'auto',
      background: 'auto',
      output_format: 'png',
      // The picture takes minutes, and a connection on which nothing was heard for five is dropped.
      stream: true,
    } as const;
    const asked =
      pictures.length === 0
        ? images.generate({ ...order, moderation: 'auto' }, { signal })
        : images.edit({ ...order, image: pictures.map(fileOf) }, { signal });
    const { data, response } = await asked.withResponse();
    return Buffer.from(await pictureIn(data, response), 'base64');
  }

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},

    async submit(call) {
      const pictures = await readPictures(call, vendor.name, LIMITS);
      return { done: inHand(await callOpenAi(vendor, { task: call.task, paid: true }, () => draw(call, pictures))) };
    },

    poll: async () => ({ state: 'succeeded', output: {} }),

    probe: (signal) => probeOpenAi(vendor, client, providerModels('gpt-image', context), signal),

    download: writeInHand,
  };
}

/** The order of the files is what the prompt counts by; their own names stay here. */
const fileOf = ({ bytes, mimeType }: Reference, index: number): File =>
  new File([new Uint8Array(bytes)], `image-${index + 1}.${mimeType.replace('image/', '')}`, { type: mimeType });

async function pictureIn(
  events: AsyncIterable<ImageGenStreamEvent | ImageEditStreamEvent>,
  response: Response,
): Promise<string> {
  // Whatever stands at the address may not know how to stream.
  if (response.headers.get('content-type')?.startsWith('application/json')) {
    const { data } = WholeAnswer.parse(await response.json());
    const picture = data.find(({ b64_json }) => b64_json !== undefined)?.b64_json;
    if (picture !== undefined) return picture;
  }
  for await (const event of response.bodyUsed ? [] : events) {
    const { type, b64_json: picture, partial_image_index: draft } = Event.parse(event);
    const isWhole = type === undefined ? draft === undefined : type.endsWith('.completed');
    if (isWhole && picture !== undefined) return picture;
  }
  throw new Incomprehensible('its answer holds no picture.');
}
