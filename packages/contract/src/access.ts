import { z } from 'zod';

export const SCOPES = [
  'projects:read',
  'projects:write',
  'folders:read',
  'folders:write',
  'files:read',
  'files:write',
  'files:download',
  'ai:generate',
  'comments:read',
  'comments:write',
  'comments:download',
  'workspace-members:read',
  'project-members:read',
  'project-members:write',
  'access-links:read',
  'access-links:write',
  'access-links:read.key',
  'skills:read',
  'skills:write',
] as const;
export const Scope = z.enum(SCOPES).meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

/** Ordered from the strongest to the weakest. */
export const PROJECT_ROLES = [
  'PROJECT_OWNER',
  'PROJECT_MANAGER',
  'PROJECT_MEMBER',
  'PROJECT_REVIEWER',
  'PROJECT_RESTRICTED_REVIEWER',
] as const;
export const ProjectRole = z.enum(PROJECT_ROLES).meta({ id: 'ProjectRole' });
export type ProjectRole = z.infer<typeof ProjectRole>;

/** The role groups that endpoints use. */
export const ANY_MEMBER = PROJECT_ROLES;
export const REVIEWERS = ['PROJECT_OWNER', 'PROJECT_MANAGER', 'PROJECT_MEMBER', 'PROJECT_REVIEWER'] as const;
export const EDITORS = ['PROJECT_OWNER', 'PROJECT_MANAGER', 'PROJECT_MEMBER'] as const;
export const LEADS = ['PROJECT_OWNER', 'PROJECT_MANAGER'] as const;
export const OWNERS = ['PROJECT_OWNER'] as const;

/** Requests per window and credential; the server's settings can override them. */
export const TIERS = {
  default: 60,
  'tier-2': 20,
  'tier-3': 50,
  'tier-4': 100,
} as const;
export type Tier = keyof typeof TIERS;
export const RATE_WINDOW_SECONDS = 60;
