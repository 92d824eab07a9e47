import { ConfigError, loadSettingsFile } from '@review/contract/settings';
import { checkFamily } from './check.ts';
import { readProviders } from './config.ts';
import { runWorker } from './run-worker.ts';

async function main(): Promise<void> {
  // Only this user may read the results in WORK_DIR.
  process.umask(0o077);
  loadSettingsFile(process.env['REVIEW_ENV_FILE'], (file) => process.loadEnvFile(file));
  const [command, ...words] = process.argv.slice(2);
  if (command === undefined) return runWorker(process.env);
  if (command !== 'check') throw new Error(`Unknown command "${command}". The only command is: check <family>.`);
  const { works, line } = await checkFamily(words[0] ?? '', () => readProviders(process.env));
  console.log(line);
  if (!works) process.exitCode = 1;
}

function describeError(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is in use by another program. Set WORKER_PORT to a free port.`;
  }
  return error instanceof Error ? error.message : String(error);
}

main()
  .catch((error: unknown) => {
    console.error(describeError(error));
    process.exitCode = 1;
  })
  // Temporal's native library may still wait for a connection that is no longer needed.
  .finally(() => process.exit());
