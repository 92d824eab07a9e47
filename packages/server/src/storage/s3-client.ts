import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Address } from './s3-address.ts';

export interface S3 {
  commands: typeof import('@aws-sdk/client-s3');
  client: S3Client;
  getSignedUrl: typeof import('@aws-sdk/s3-request-presigner').getSignedUrl;
}

/** Loads the SDK on first use, because it costs 32 MB and 200 ms. */
export async function loadS3({ region, endpoint, forcePathStyle }: S3Address): Promise<S3> {
  const [commands, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const client = new commands.S3Client({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle,
    // The default adds the checksum of an empty body to presigned part URLs, and S3 then refuses the part.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5000, socketTimeout: 120_000 },
  });
  return { commands, client, getSignedUrl };
}
