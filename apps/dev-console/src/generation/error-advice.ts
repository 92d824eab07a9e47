import type { GenerationErrorCode } from '@review/contract';

/** What whoever looks at a failed run can do about it. */
export const ADVICE: Record<GenerationErrorCode, string> = {
  MODERATED: 'The provider’s content policy refused it. Change the prompt or the attachments and run it again.',
  PROVIDER_REJECTED: 'The provider refused the request as it is. Change the prompt, the settings or the model.',
  PROVIDER_UNAVAILABLE: 'The provider could not be reached in time. Run it again later, or choose another model.',
  PROVIDER_TIMEOUT: 'The provider took too long. Run it again, with less to make or another model.',
  PROVIDER_AUTH: 'The provider does not accept this host’s key. The operator has to renew it.',
  PROVIDER_QUOTA: 'The account at the provider is used up. The operator has to top it up.',
  ATTACHMENT_UNREADABLE: 'An attachment could not be read. Attach it again, in a common format.',
  SUBMIT_OUTCOME_UNKNOWN: 'Nobody knows whether the provider took the order, so it was not placed twice. Run it again.',
  CONFIG_INVALID: 'The settings are not valid for this model. Choose others and run it again.',
  RESULT_EXPIRED: 'The provider’s result was gone before it was fetched. Run it again.',
  STORAGE_FULL: 'There was no room to store the result. The operator has to make some; then run it again.',
  INTERNAL: 'Something went wrong on our side. Run it again; if it stays, tell the operator the id of the file.',
};
