/** Downloads a presigned URL under the given file name. */
export function save(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
