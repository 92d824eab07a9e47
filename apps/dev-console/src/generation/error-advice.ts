import type { GenerationErrorCode } from '@review/contract';

/** What the user can do about each error. */
export const ERROR_ADVICE: Record<GenerationErrorCode, string> = {
  MODERATED: 'The provider’s content policy refused it. Change the prompt or the attachments and run it again.',
  PROVIDER_REJECTED: 'The provider refused the request as it is. Change the prompt, the settings or the model.',
  PROVIDER_UNAVAILABLE: 'The provider could not be reached in time. Run it again later, or choose another model.',
  PROVIDER_TIMEOUT: 'The provider took too long. Run it again with a smaller request, or choose another model.',
  PROVIDER_AUTH: 'The provider does not accept this host’s key. The operator has to renew it.',
  PROVIDER_QUOTA: 'The account at the provider has no credit left. The operator has to top it up.',
  ATTACHMENT_UNREADABLE: 'An attachment could not be read. Attach it again, in a common format.',
  SUBMIT_OUTCOME_UNKNOWN:
    'It is unknown whether the provider accepted the request, so it was not sent again. Run it again yourself.',
  CONFIG_INVALID: 'The settings are not valid for this model. Choose others and run it again.',
  RESULT_EXPIRED: 'The provider’s result expired before it was downloaded. Run it again.',
  STORAGE_FULL: 'The storage is full. Ask the operator to free space, then run it again.',
  INTERNAL: 'The service failed. Run it again; if it fails again, send the operator the id of the file.',
};
