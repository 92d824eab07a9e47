import type { MediaErrorCode } from '@review/contract';

/** The content cannot be read. The message is for people. */
export class Refused extends Error {
  override name = 'Refused';
  readonly code: MediaErrorCode;

  constructor(code: MediaErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
