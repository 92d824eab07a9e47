import { ConfigError } from '@review/contract/settings';
import type { Command } from 'commander';
import type { Finding } from '../doctor/finding.ts';
import type { Data } from './data.ts';
import { CommandError, type Output } from './output.ts';

export function addDoctorCommand(review: Command, { withDeps }: Data, output: Output): void {
  review
    .command('doctor')
    .description('check the settings, the database, the storage, the workers and more; exits with 1 if a check failed')
    .action(async () => {
      const findings = await examine(withDeps);
      output.show(findings, findings.map(lineOf).join('\n'));
      if (findings.some(({ status }) => status === 'failed')) output.exitCode = 1;
    });
}

async function examine(withDeps: Data['withDeps']): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    await withDeps(async (deps) => {
      const { diagnose } = await import('../doctor/diagnose.ts');
      findings.push(...(await diagnose(deps)));
    });
    return findings;
  } catch (error) {
    const advice = 'Correct this, and run the checks again.';
    if (error instanceof ConfigError) return [{ name: 'settings', status: 'failed', message: error.message, advice }];
    if (error instanceof CommandError) return [{ name: 'database', status: 'failed', message: error.message, advice }];
    throw error;
  }
}

const MARKS = { ok: 'ok     ', warning: 'WARNING', failed: 'FAILED ' } as const;

const lineOf = ({ name, status, message, advice }: Finding) =>
  `${MARKS[status]}  ${name}: ${message}${advice === null ? '' : `\n         ${advice}`}`;
