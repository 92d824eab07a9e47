import { describe, expect, test } from 'vitest';
import type { StepErrorType } from '../step-error.ts';
import { meaningOf as ofFal } from './fal.ts';
import { meaningOf as ofGoogle } from './google.ts';
import { meaningOf as ofHunyuan } from './hunyuan3d.ts';
import { meaningOf as ofKling } from './kling.ts';
import { meaningOf as ofMeshy } from './meshy.ts';
import { meaningOf as ofMinimax } from './minimax.ts';
import { meaningOf as ofOpenAi } from './openai.ts';
import { meaningOf as ofArk } from './seedance.ts';
import { ERROR_CODES as FAL } from './test/fal.ts';
import { ERROR_CODES as GOOGLE } from './test/google.ts';
import { ERROR_CODES as HUNYUAN } from './test/hunyuan3d.ts';
import { ERROR_CODES as KLING } from './test/kling.ts';
import { ERROR_CODES as MESHY } from './test/meshy.ts';
import { ERROR_CODES as MINIMAX } from './test/minimax.ts';
import { ERROR_CODES as OPENAI } from './test/openai.ts';
import { ERROR_CODES as ARK } from './test/seedance.ts';
import { meaningOf as ofVeo } from './veo.ts';

interface Vendor {
  name: string;
  codes: (string | number)[];
  meaningOf: (code: string) => StepErrorType | undefined;
  /** Codes for the operator and transient codes, whose confusion would cost money. */
  classes: Partial<Record<StepErrorType, (string | number)[]>>;
}

const byNumber = (meaningOf: (code: number) => StepErrorType | undefined) => (code: string) => meaningOf(Number(code));
const all = (byStatus: Record<number, (string | number)[]>) => Object.values(byStatus).flat();
const operation = (...names: string[]) => names.map((name) => `FailedOperation.${name}`);

const VENDORS: Vendor[] = [
  {
    name: 'Ark',
    codes: all(ARK),
    meaningOf: ofArk,
    classes: {
      AUTH: [
        ...['AuthenticationError', 'InvalidAccountStatus', 'AccessDenied', 'InvalidSubscription'],
        ...['OperationDenied.PermissionDenied', 'OperationDenied.ServiceNotOpen', 'ModelNotOpen', 'UnsupportedModel'],
        ...['InvalidEndpointOrModel.NotFound', 'InvalidEndpointOrModel.ModelIDAccessDisabled'],
      ],
      BALANCE: [
        ...['AccountOverdueError', 'OperationDenied.ServiceOverdue', 'OperationDenied.FileQuotaExceeded'],
        ...['QuotaExceeded', 'SetLimitExceeded'],
      ],
      TRANSIENT: ['InvalidEndpoint.ClosedEndpoint', 'ContentSecurityDetectionError', 'InternalServiceError'],
      RESULT_EXPIRED: ['NotFound.Task'],
    },
  },
  {
    name: 'Kling',
    codes: all(KLING),
    meaningOf: ofKling,
    classes: {
      AUTH: [1000, 1001, 1002, 1003, 1004, 1103, 1100, 1304],
      BALANCE: [1101, 1102],
      RATE_LIMITED: [1302, 1303],
      TRANSIENT: [5000, 5001, 5002],
    },
  },
  {
    name: 'MiniMax',
    codes: MINIMAX.flatMap(({ type, codes }) => [type, ...codes]),
    meaningOf: ofMinimax,
    classes: {
      AUTH: ['authorized_error', 1004, 2049],
      BALANCE: ['insufficient_balance_error', 1008, 2056],
      CONTENT_POLICY: ['unprocessable_entity_error', 1026, 1027],
      TRANSIENT: ['server_error', 1000, 1001, 1013, 1024, 1033],
    },
  },
  {
    name: 'Meshy',
    codes: Object.entries(MESHY).flatMap(([status, names]) => [status, ...names]),
    meaningOf: ofMeshy,
    classes: {
      AUTH: ['401', '403'],
      BALANCE: ['402', 'InsufficientCredits'],
      RATE_LIMITED: ['429', 'RateLimitExceeded', 'NoMoreConcurrentTasks', 'TooManyPendingTasks', 'LimitExceeded'],
      TRANSIENT: [],
    },
  },
  {
    name: 'Tencent Cloud',
    codes: HUNYUAN,
    meaningOf: ofHunyuan,
    classes: {
      BALANCE: [
        'ResourceInsufficient',
        ...operation('FreeResourcePackExhausted', 'ResourcePackExhausted', 'ServiceStopArrears'),
        ...['ResourceUnavailable.InArrears', 'ResourceUnavailable.LowBalance'],
        'ResourcesSoldOut.ChargeStatusException',
      ],
      RATE_LIMITED: [
        ...['LimitExceeded', 'RequestLimitExceeded', 'RequestLimitExceeded.GlobalRegionUinLimitExceeded'],
        ...['RequestLimitExceeded.IPLimitExceeded', 'RequestLimitExceeded.UinLimitExceeded', 'ResourceInUse'],
        ...[...operation('EngineServerLimitExceeded'), 'RequestLimitExceeded.JobNumExceed'],
      ],
      TRANSIENT: [
        ...['FailedOperation', 'InternalError', 'ResourceUnavailable', 'ResponseSizeLimitExceeded'],
        ...['ServiceUnavailable', ...operation('EngineRequestTimeout', 'EngineServerError', 'ConsoleServerError')],
        ...operation('InnerError', 'ServerError'),
      ],
      RESULT_EXPIRED: ['ResourceNotFound', ...operation('JobNotExist', 'JobNotFound')],
      CONTENT_POLICY: [
        ...operation('GenerateImageFailed'),
        ...['OperationDenied.ImageIllegalDetected', 'OperationDenied.TextIllegalDetected'],
      ],
    },
  },
  {
    name: 'fal',
    codes: [...FAL.model, ...FAL.request],
    meaningOf: ofFal,
    classes: { CONTENT_POLICY: ['content_policy_violation'], AUTH: [], BALANCE: [] },
  },
  {
    name: 'OpenAI',
    codes: all(OPENAI),
    meaningOf: ofOpenAi,
    classes: {
      CONTENT_POLICY: ['moderation_blocked', 'content_policy_violation', 'content_filter'],
      BALANCE: ['billing_hard_limit_reached', 'insufficient_quota', 'billing_not_active'],
      RATE_LIMITED: ['rate_limit_exceeded'],
    },
  },
  {
    name: 'Google, by status',
    codes: Object.keys(GOOGLE),
    meaningOf: byNumber(ofGoogle),
    classes: { AUTH: ['401', '403', '404'], RATE_LIMITED: ['429'], TRANSIENT: ['409', '499', '500', '503', '504'] },
  },
  {
    name: 'Veo, of a job',
    codes: Array.from({ length: 16 }, (_, index) => index + 1),
    meaningOf: byNumber(ofVeo),
    classes: { AUTH: [7, 16], INVALID_INPUT: [3, 9, 11], TRANSIENT: [] },
  },
];

describe.each(VENDORS)('the codes of $name', ({ codes, meaningOf, classes }) => {
  test('are all mapped', () => {
    expect(codes.filter((code) => meaningOf(String(code)) === undefined)).toEqual([]);
    expect(meaningOf('SomethingNew')).toBeUndefined();
  });

  test('are mapped correctly where a mistake would cost money', () => {
    const read = Object.keys(classes).map((type) => [type, codes.filter((code) => meaningOf(String(code)) === type)]);
    expect(Object.fromEntries(read)).toEqual(classes);
  });
});
