import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './run.mjs';

/**
 * Summarizes a test run: the failed tests with the first lines of their errors, the tests skipped because the machine lacks a
 * program, and the counts of all packages in one line.
 * @param {string} reports
 * @param {number} exitCode
 */
export function summarize(reports, exitCode) {
  const lackingFile = join(reports, 'lacking.txt');
  const lacking = existsSync(lackingFile) ? readFileSync(lackingFile, 'utf8').split('\n').filter(Boolean) : [];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  for (const file of readdirSync(reports).filter((name) => name.endsWith('.json'))) {
    const report = JSON.parse(readFileSync(join(reports, file), 'utf8'));
    counts.passed += report.numPassedTests;
    counts.failed += report.numFailedTests;
    counts.skipped += report.numPendingTests + report.numTodoTests;
    for (const { name, status, message, assertionResults } of report.testResults) {
      const failed = assertionResults.filter(isFailed);
      for (const test of failed) failures.push(failure(name, test.fullName, test.failureMessages[0]));
      // A file that failed to load reports no failed test.
      if (status === 'failed' && failed.length === 0) {
        counts.failed += 1;
        failures.push(failure(name, 'the file', message));
      }
    }
  }
  const text = [
    '',
    ...failures,
    ...[...new Set(lacking)].map((line) => `!!! SKIPPED, this machine lacks ${line}`),
    ...(exitCode !== 0 && counts.failed === 0 ? ['!!! A build, a check or a test run failed: see above'] : []),
    `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
  ].join('\n');
  return { text, failed: counts.failed };
}

/**
 * @param {string} file
 * @param {string} title
 * @param {string} [message]
 */
function failure(file, title, message = '') {
  const cause = message
    .split('\n')
    .slice(0, 8)
    .map((line) => `      ${line}`);
  return [`!!! FAILED ${relative(root, file)} > ${title}`, ...cause].join('\n');
}

/** @param {{ status: string }} test */
function isFailed(test) {
  return test.status === 'failed';
}
