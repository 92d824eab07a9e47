import type { S3Address } from './s3-address.ts';

export type S3 = Awaited<ReturnType<typeof loadS3>>;

/** The SDK costs 32 MB and a fifth of a second: only who keeps bytes in S3 pays. */
export async function loadS3({ region, endpoint, forcePathStyle }: S3Address) {
  const [commands, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const client = new commands.S3Client({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle,
    // The default puts the checksum of an empty body into the URLs of parts, and S3 then refuses the part.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5000, socketTimeout: 120_000 },
  });
  return { commands, client, getSignedUrl };
}
