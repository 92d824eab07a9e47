// Loaded into a server before anything else. While there is the file that DISK_TROUBLE names, what the server writes to its
// storage fails half way with the code in it: a disk that is full or forbidden, which no test may make of the machine's.
import { existsSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const file = process.env['DISK_TROUBLE'] ?? '';
const trouble = () => (existsSync(file) ? readFileSync(file, 'utf8') : null);

await using probe = await open(import.meta.filename);
const prototype: FileHandle = Object.getPrototypeOf(probe);
const { writeFile } = prototype;

prototype.writeFile = async function (this: FileHandle, ...args: Parameters<typeof writeFile>) {
  const code = trouble();
  if (code === null) return writeFile.apply(this, args);
  await this.write('half of it');
  throw Object.assign(new Error(`${code}: as the test asked`), { code });
};
