export interface S3Address {
  bucket: string;
  /** The prefix of every key: empty, or ending with a slash. */
  prefix: string;
  region: string | undefined;
  endpoint: string | undefined;
  forcePathStyle: boolean;
}

/** `s3://bucket/prefix?region=&endpoint=&forcePathStyle=` */
export function parseS3Address(address: string): S3Address {
  const { hostname, pathname, searchParams } = new URL(address);
  const folder = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '');
  return {
    bucket: hostname,
    prefix: folder === '' ? '' : `${folder}/`,
    region: searchParams.get('region') || undefined,
    endpoint: searchParams.get('endpoint') || undefined,
    forcePathStyle: !['', 'false', '0', null].includes(searchParams.get('forcePathStyle')),
  };
}
