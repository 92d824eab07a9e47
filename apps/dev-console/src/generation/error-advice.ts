import type { GenerationErrorCode } from '@review/contract';

/** What the user can do about each error. */
export const ERROR_ADVICE: Record<GenerationErrorCode, string> = {
  MODERATED: 'The provider’s content policy refused it. Change the prompt or the attachments and try again.',
  PROVIDER_REJECTED:
    'The provider did not make it. Try again; if it fails again, change the prompt, the settings or the model.',
  PROVIDER_UNAVAILABLE: 'The provider could not be reached in time. Try again later, or choose another model.',
  PROVIDER_TIMEOUT: 'The provider took too long. Try again with a smaller request, or choose another model.',
  PROVIDER_AUTH: 'The provider does not accept this host’s key. The operator has to renew it.',
  PROVIDER_QUOTA: 'The account at the provider has no credit left. The operator has to top it up.',
  ATTACHMENT_UNREADABLE: 'An attachment could not be read. Attach it again, in a common format.',
  SUBMIT_OUTCOME_UNKNOWN:
    'It is unknown whether the provider accepted the request, so it was not sent again. Try again yourself.',
  CONFIG_INVALID: 'The settings are not valid for this model. Choose others and try again.',
  RESULT_EXPIRED: 'The provider’s result expired before it was downloaded. Try again.',
  STORAGE_FULL: 'The storage is full. Ask the operator to free space, then try again.',
  INTERNAL: 'The service failed. Try again; if it fails again, send the operator the id of the file.',
};
