import { type Family, findModel, type VideoSettings, type WorkerTask } from '@review/contract';
import { callFor, familyWith, type Storage, startStorage, taskFor } from '../families/test/asking.ts';
import { type Double, startDouble, type VendorRequest } from '../families/test/double.ts';
import { settingsOfAllAt, VENDORS } from '../families/test/doubles.ts';
import { faultsIn } from '../families/test/published-schemas.ts';

/** A vendor that accepts and records every request, and pictures to attach. */
export interface Recorder extends AsyncDisposable {
  vendor: Double;
  /** Submits tasks for the bounds of each limit, some with pictures, and returns the JSON requests. */
  requestsOf(model: string, pictureCounts: number[], more?: Record<string, string>): Promise<VendorRequest[]>;
}

export async function openRecorder(): Promise<Recorder> {
  const storage: Storage = await startStorage();
  const pictures = await Promise.all([1, 2, 3, 4, 5].map((number) => storage.picture(number)));
  const vendor = await startDouble(() => ({
    body: {
      ...{ id: '1', task_id: '1', request_id: '1', result: '1', name: 'models/veo/operations/1' },
      ...{ data: { id: '1' }, Response: { JobId: '1' } },
    },
  }));
  return {
    vendor,
    async requestsOf(model, pictureCounts, more = {}) {
      const before = vendor.requests.length;
      const family = familyWith({ ...settingsOfAllAt(vendor.url), ...more }, model);
      for (const task of tasksFor(model, pictureCounts, pictures)) {
        for (const stage of family.stages(task)) {
          const preview = { id: '1', path: '/openapi/v2/text-to-3d', stage: 'preview' };
          const later = { ...task, stages: { preview: { intents: 1, job: preview } } };
          // The answer does not matter here.
          await family.submit(callFor(later, undefined, stage)).catch(() => {});
        }
      }
      return vendor.requests.slice(before).filter(({ headers }) => !headers['content-type']?.startsWith('multipart/'));
    },
    async [Symbol.asyncDispose]() {
      await vendor[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

/** The bounds of each limit without pictures, and the first and the last of them with pictures, because decoding is slow. */
function tasksFor(model: string, pictureCounts: number[], pictures: WorkerTask['attachments']): WorkerTask[] {
  const { video, caps } = findModel(model) ?? { video: null, caps: { attachments: 0, promptCharacters: 0 } };
  const prompt = 'x'.repeat(Math.min(2500, caps.promptCharacters ?? 2500));
  const counts = new Set(pictureCounts.map((count) => Math.min(count, caps.attachments ?? 5)));
  const settings: Partial<VideoSettings>[] = video
    ? [
        ...video.resolutions.map((resolution) => ({ resolution })),
        ...video.ratios.map((aspectRatio) => ({ aspectRatio })),
        ...[video.seconds.min, video.seconds.max].map((durationSeconds) => ({ durationSeconds })),
        { generateAudio: false },
      ]
    : [{}];
  return settings.flatMap((configs, index) =>
    (index === 0 || index === settings.length - 1 ? [...counts.add(0)] : [0]).map((count) =>
      taskFor(model, { prompt, configs, attachments: pictures.slice(0, count) }),
    ),
  );
}

/** Returns the faults of requests against the pages of the family's vendors. */
export function faultsOf(requests: VendorRequest[], family: Family | undefined): string[] {
  const vendors = VENDORS.filter(({ families }) => families.some((name) => name === family));
  const faults = requests.flatMap((request) => {
    const known = vendors.map((each) => ({ page: each.pageOf?.(request) ?? request.path, pages: each.pages }));
    const found = known.find(({ page, pages }) => page in pages);
    if (found === undefined) return [`no page for ${request.path}`];
    return faultsIn(request.body, found.pages[found.page] ?? {}).map((fault) => `${found.page}: ${fault}`);
  });
  return [...new Set(faults)];
}
