// Preloaded into a server. While the file named by DISK_TROUBLE exists, writes to the storage fail half way with the error
// code that the file contains. This simulates a full or read-only disk without touching the disk of the machine.
import { existsSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const file = process.env['DISK_TROUBLE'] ?? '';
const trouble = () => (existsSync(file) ? readFileSync(file, 'utf8') : null);

await using probe = await open(import.meta.filename);
const prototype: FileHandle = Object.getPrototypeOf(probe);

prototype.writev = new Proxy(prototype.writev, {
  async apply(writev, file: FileHandle, args: Parameters<FileHandle['writev']>) {
    const code = trouble();
    if (code === null) return Reflect.apply(writev, file, args);
    await file.write('half of it', args[1]);
    throw Object.assign(new Error(`${code}: as the test asked`), { code });
  },
});
