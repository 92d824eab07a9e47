import type { FileDetails, FileRecord } from '@review/contract';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api.ts';
import { kindOf } from '../kind.ts';

const COUNTING = new Set(['v', 'version', 'rev', 'take', 'copy', 'final']);
const isCounting = (word: string) => /^\p{N}/u.test(word) || COUNTING.has(word);

/** The words of a name without its extension and what counts versions: `Cut v2.mp4` and `cut_03 final.mov` are both `cut`. */
function wordsOf(name: string): string[] {
  const words =
    name
      .toLowerCase()
      .replace(/\.[^.]{1,10}$/, '')
      .match(/\p{L}+|\p{N}+/gu) ?? [];
  return words.slice(0, words.findLastIndex((word) => !isCounting(word)) + 1);
}

/** The earlier versions of a file, by their kind and names, in the order of the list. */
export function earlierVersions(file: FileRecord, offered: readonly FileRecord[]): FileRecord[] {
  const name = wordsOf(file.name).join(' ');
  return offered.filter(
    (other) =>
      name !== '' &&
      other.createdAt < file.createdAt &&
      kindOf(other) === kindOf(file) &&
      wordsOf(other.name).join(' ') === name,
  );
}

/** What a file is compared with first: its previous version, else the newest other file of its kind, else itself. */
export const comparedFirstQuery = (file: FileDetails) =>
  queryOptions({
    queryKey: ['files', 'all', file.project.id, { comparedWith: file.id }],
    queryFn: async ({ signal }) => {
      const list = async (own: { keyword?: string }) =>
        (await client.files.list({ params: file.project, body: { status: 'UPLOADED', ...own } }, { signal })).data;
      const [keyword] = wordsOf(file.name);
      const [previous] = keyword === undefined ? [] : earlierVersions(file, await list({ keyword }));
      if (previous !== undefined) return previous.id;
      const similar = (await list({})).find(({ id, ...other }) => id !== file.id && kindOf(other) === kindOf(file));
      return similar?.id ?? file.id;
    },
  });
