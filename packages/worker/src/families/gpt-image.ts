import type { ImageEditStreamEvent, ImageGenStreamEvent } from 'openai/resources/images';
import { z } from 'zod';
import type { Account, AccountReader } from '../provider-settings.ts';
import { providerModels } from './account-models.ts';
import type { AdapterContext } from './adapter-context.ts';
import { entries, number, word } from './answer-fields.ts';
import type { Call, Family, FamilyDescription } from './family.ts';
import { inlineOutput, writeInlineOutput } from './inline-output.ts';
import { callOpenAi, OPENAI_URL, type OpenAiAccount, openAiClient, probeOpenAi, UnreadableAnswer } from './openai.ts';
import { type PictureLimits, type Reference, readPictures, replaceReferences } from './references.ts';

const LIMITS: PictureLimits = { types: ['image/png', 'image/jpeg', 'image/webp'], maxBytes: 50 * 1024 * 1024 - 1 };

/** Only drafts have a `partial_image_index`. */
const Event = z.object({ type: word, b64_json: word, partial_image_index: number }).catch({});
const WholeAnswer = z.object({ data: entries({ b64_json: word }) }).catch({ data: [] });

/** OpenAI's images. The provider is synchronous: its answer is the picture, and there is no job to look up. */
export const gptImage: FamilyDescription<OpenAiAccount> = {
  keySettings: 'OPENAI_API_KEY',
  readAccount,
  submitSeconds: 300,
  storeSeconds: 120,
  open,
};

function readAccount({ keyed, value }: AccountReader): Account<OpenAiAccount> {
  const account = keyed('OPENAI_API_KEY', 'OPENAI_BASE_URL', OPENAI_URL);
  if (account.state !== 'live') return account;
  return { ...account, organization: value('OPENAI_ORG_ID') ?? null, project: value('OPENAI_PROJECT_ID') ?? null };
}

function open(account: OpenAiAccount, context: AdapterContext): Family {
  const vendor = { name: 'OpenAI', secrets: [account.apiKey], log: context.log };
  const client = openAiClient(account);

  async function draw({ task, signal }: Call, pictures: readonly Reference[]): Promise<Buffer> {
    const { images } = await client();
    const order = {
      model: context.providerModelId(task.outputModel, task.outputModel),
      prompt: replaceReferences(task, (position) => `image ${position}`),
      n: 1,
      size: 'auto',
      quality: 'auto',
      background: 'auto',
      output_format: 'png',
      // Streamed, because a picture takes minutes and `fetch` drops a connection after five minutes without data.
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
      return {
        done: inlineOutput(await callOpenAi(vendor, { task: call.task, paid: true }, () => draw(call, pictures))),
      };
    },

    poll: async () => ({ state: 'succeeded', output: {} }),

    probe: (signal) => probeOpenAi(vendor, client, providerModels('gpt-image', context), signal),

    download: writeInlineOutput,
  };
}

/** Names the files by position, as the prompt does. Their original names are not sent. */
const fileOf = ({ bytes, mimeType }: Reference, index: number): File =>
  new File([new Uint8Array(bytes)], `image-${index + 1}.${mimeType.replace('image/', '')}`, { type: mimeType });

async function pictureIn(
  events: AsyncIterable<ImageGenStreamEvent | ImageEditStreamEvent>,
  response: Response,
): Promise<string> {
  // A compatible server at OPENAI_BASE_URL may not support streaming.
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
  throw new UnreadableAnswer('its answer has no picture.');
}
