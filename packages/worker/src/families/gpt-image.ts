import type { ImageEditStreamEvent, ImageGenStreamEvent } from 'openai/resources/images';
import { z } from 'zod';
import type { OpenAiAccount } from '../provider-settings.ts';
import { wireModels } from './account-models.ts';
import type { Call, Family } from './family.ts';
import { inHand, writeInHand } from './in-hand.ts';
import type { Host } from './open.ts';
import { callOpenAi, Incomprehensible, openAiClient, probeOpenAi } from './openai.ts';
import { namedPrompt, type PictureLimits, type Reference, readPictures } from './references.ts';

const LIMITS: PictureLimits = { types: ['image/png', 'image/jpeg', 'image/webp'], mostBytes: 50 * 1024 * 1024 - 1 };

const Completed = z.object({
  type: z.enum(['image_generation.completed', 'image_edit.completed']),
  b64_json: z.string().min(1),
});
const WholeAnswer = z.object({ data: z.tuple([z.object({ b64_json: z.string().min(1) })]) });

/** OpenAI's images: one call, whose answer is the picture. There is no job that could be asked for later. */
export function gptImage(account: OpenAiAccount, host: Host): Family {
  const vendor = { name: 'OpenAI', secrets: [account.apiKey], log: host.log };
  const client = openAiClient(account);

  async function draw({ task, signal }: Call, pictures: readonly Reference[]): Promise<Buffer> {
    const { images } = await client();
    const order = {
      model: host.wireId(task.outputModel, task.outputModel),
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

    probe: (signal) => probeOpenAi(vendor, client, wireModels('gpt-image', host), signal),

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
    const whole = WholeAnswer.safeParse(await response.json());
    if (whole.success) return whole.data.data[0].b64_json;
  }
  for await (const event of response.bodyUsed ? [] : events) {
    const completed = Completed.safeParse(event);
    if (completed.success) return completed.data.b64_json;
  }
  throw new Incomprehensible('its answer holds no picture.');
}
