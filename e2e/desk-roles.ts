import type { ProjectRole } from '@review/contract';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The person of each role in the demo workspace. */
export const NAMES: Record<ProjectRole, string> = {
  PROJECT_OWNER: 'Olive Owner',
  PROJECT_MANAGER: 'Max Manager',
  PROJECT_MEMBER: 'Mia Member',
  PROJECT_REVIEWER: 'Rui Reviewer',
  PROJECT_RESTRICTED_REVIEWER: 'Rae Restricted',
};

export const emailOf = (role: ProjectRole) => `${NAMES[role].split(' ')[0]?.toLowerCase()}@demo.example`;

export const allows = ({ metadata }: { metadata: { roles: readonly ProjectRole[] } }, role: ProjectRole) =>
  metadata.roles.includes(role);

/** The reason that the console gives the role for what the contract forbids it. */
export const refusalOf = (role: ProjectRole) =>
  new RegExp(`you are its ${role.replace('PROJECT_', '').replaceAll('_', ' ').toLowerCase()}`);

/** The console offers what the contract allows the role; what it forbids says why. */
export async function expectOffered(control: Locator, allowed: boolean, reason: RegExp): Promise<void> {
  await expect.poll(() => control.getAttribute('aria-disabled')).toBe(allowed ? null : 'true');
  if (allowed) return;
  await control.focus();
  await control.locator('..').getByText(reason).filter({ visible: true }).first().waitFor();
}

/** Draws with the mouse from one point of the picture to another, both as shares of its size. */
export async function drag(page: Page, picture: string, from: [number, number], to: [number, number]): Promise<void> {
  const box = await page.locator(picture).boundingBox();
  if (box === null) throw new Error(`${picture} is not shown`);
  const at = ([x, y]: [number, number]) => [box.x + x * box.width, box.y + y * box.height] as const;
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]), { steps: 5 });
  await page.mouse.move(...at(to), { steps: 5 });
  await page.mouse.up();
}
