import { z } from 'zod';

/** The review status of a version or a file. */
export const REVIEW_STATUSES = [
  'IN_PROGRESS',
  'NEED_REVIEW',
  'NEED_EDIT',
  'ON_HOLD',
  'APPROVED',
  'REJECTED',
  'CLOSED',
] as const;
export const ReviewStatus = z.enum(REVIEW_STATUSES).meta({
  id: 'ReviewStatus',
  description:
    'The review status. Owners, Managers, Members and Reviewers decide about versions; Owners, Managers and Members also about single files. Restricted Reviewers comment only.',
});
export type ReviewStatus = z.infer<typeof ReviewStatus>;
