import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { createWorkerClient } from '@review/client/worker';
import type { WebhookRequest } from '@review/contract';
import type { Environment } from '@review/contract/settings';
import { startTracing, traceHeaders } from '@review/tracing';
import { type Logger, pino } from 'pino';
import { readConfig } from './config.ts';
import { Drain } from './drain.ts';
import { runEmbedded, type Stop } from './engines/embedded.ts';
import { runMedia } from './engines/embedded-media.ts';
import { runWebhooks } from './engines/embedded-webhooks.ts';
import { openFamilies } from './families/open.ts';
import { sandboxFamily } from './families/sandbox.ts';
import { traceCalls } from './families/trace-calls.ts';
import { watchRefusals } from './families/watch-refusals.ts';
import { serveHealth } from './health.ts';
import { Metrics } from './metrics.ts';
import { latestRefusals, recordRefusal } from './refusals.ts';
import { register, startHeartbeat } from './register.ts';
import { removeDirectory } from './remove-directory.ts';
import { closeSandbox } from './sandbox/render.ts';
import { ServerVersion } from './server-version.ts';
import { removeStaleDirectories } from './stale-directories.ts';
import { KnownTasks } from './steps/known-tasks.ts';
import { sendWebhook } from './webhooks/send.ts';

const VERSION = String(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version);

/** Runs a worker until a stop signal. Tests replace `open`, and so the providers. */
export async function runWorker(environment: Environment, open = openFamilies): Promise<void> {
  const config = readConfig(environment, { name: hostname(), pid: process.pid });
  const log = pino({ level: config.logLevel });
  const stop = listenForStopSignals(log);
  const metrics = new Metrics();
  const service = { name: 'review-worker', version: VERSION, instance: config.name };
  await using _tracing = await startTracing(config.tracing, service, log);
  const drain = new Drain();
  await using _health = config.port === null ? null : await serveHealth(config.port, metrics.registry);
  const version = new ServerVersion({
    onChange(isOlder) {
      drain.set('older server', isOlder);
      metrics.setServerOlder(isOlder);
      if (isOlder) log.warn('the server is older than this worker; waiting until it is upgraded');
      else log.info('the server is as new as this worker; taking work again');
    },
  });
  const { serverUrl: baseUrl, token } = config;
  const server = createWorkerClient({ baseUrl, token, headers: traceHeaders, fetch: version.fetch });
  const sandbox = sandboxFamily({ jobMs: config.sandboxMs, now: Date.now });
  const { family, states } = open(config.providers, sandbox, log);
  const report = () => ({ worker: config.name, version: VERSION, families: states, refusals: latestRefusals() });
  try {
    await removeStaleDirectories(dirname(config.workDirectory));
    const engine = await register(server, version, report(), log, stop.soon);
    using _reporting = startHeartbeat(server, report, drain, log);
    log.info({ engine, server: config.serverUrl }, 'ready');
    const { onUnknownSubmit } = config.providers;
    const watched = watchRefusals(family, (refusal) => {
      metrics.countRefusal(refusal.family, refusal.type);
      recordRefusal(refusal);
    });
    const tasks = new KnownTasks();
    const { workDirectory } = config;
    const context = {
      server,
      family: traceCalls(watched),
      log,
      metrics,
      onUnknownSubmit,
      workDirectory,
      tasks,
      isServerOlder: () => version.isOlder,
      unrecorded: new Map(),
    };
    const options = { worker: config.name, concurrency: config.concurrency };
    const webhooks = {
      server,
      log,
      async send(request: WebhookRequest) {
        const outcome = await sendWebhook(request, { allowsLoopback: config.allowsLoopbackWebhooks });
        metrics.countWebhook(outcome.error === null ? 'SUCCEEDED' : 'FAILED');
        return outcome;
      },
    };
    const media = { server, log, workDirectory, decoder: config.decoder };
    if (config.mediaConcurrency === 0) log.info('reads no media: MEDIA_CONCURRENCY is 0');
    else if (config.decoder.name === 'none')
      log.warn('videos and sounds get no previews: install node-av or set FFMPEG_PATH');
    if (engine === 'temporal') {
      // Loaded on demand, because it brings a native library.
      const { runTemporal } = await import('./engines/temporal.ts');
      const { temporal: environment, mediaConcurrency } = config;
      await runTemporal(context, webhooks, media, { ...options, mediaConcurrency, environment }, stop, drain);
    } else {
      await Promise.all([
        runEmbedded(context, options, stop, drain),
        runWebhooks(webhooks, config.name, stop.soon, drain),
        config.mediaConcurrency > 0 &&
          runMedia(media, { worker: config.name, concurrency: config.mediaConcurrency }, stop.soon, drain),
      ]);
    }
  } catch (error) {
    if (!stop.soon.aborted) throw error;
  } finally {
    await closeSandbox();
    await removeDirectory(config.workDirectory);
  }
}

const GRACE_MS = 30_000;

/** Aborts `soon` at the first SIGTERM or SIGINT, and `now` after the grace period. */
function listenForStopSignals(log: Logger): Stop {
  const [soon, now] = [new AbortController(), new AbortController()];
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // The handler stays: without it, a second signal would kill the running steps.
    process.on(signal, () => {
      if (soon.signal.aborted) return;
      log.info({ signal }, 'worker stops; running steps may finish');
      soon.abort();
      setTimeout(() => now.abort(), GRACE_MS).unref();
    });
  }
  return { soon: soon.signal, now: now.signal };
}
