import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Summarizes a test run: the tests skipped because the machine lacks a program, and the counts of all packages in one line.
 * @param {string} reports
 * @param {number} exitCode
 */
export function summarize(reports, exitCode) {
  const lackingFile = join(reports, 'lacking.txt');
  const lacking = existsSync(lackingFile) ? readFileSync(lackingFile, 'utf8').split('\n').filter(Boolean) : [];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of readdirSync(reports).filter((name) => name.endsWith('.json'))) {
    const report = JSON.parse(readFileSync(join(reports, file), 'utf8'));
    counts.passed += report.numPassedTests;
    counts.failed += report.numFailedTests;
    counts.skipped += report.numPendingTests + report.numTodoTests;
    for (const { status, assertionResults } of report.testResults) {
      // A file that failed to load reports no failed test.
      if (status === 'failed' && !assertionResults.some(isFailed)) counts.failed += 1;
    }
  }
  const text = [
    '',
    ...[...new Set(lacking)].map((line) => `!!! SKIPPED, this machine lacks ${line}`),
    ...(exitCode !== 0 && counts.failed === 0 ? ['!!! A build, a check or a test run failed: see above'] : []),
    `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
  ].join('\n');
  return { text, failed: counts.failed };
}

/** @param {{ status: string }} test */
function isFailed(test) {
  return test.status === 'failed';
}
