import type { Environment } from '@review/contract/settings';
import { Command, CommanderError, Option } from 'commander';
import { z } from 'zod';
import { findUser, insertWorkspace, joinWorkspace } from '../accounts/queries.ts';
import { relinkSubject } from '../credentials/queries.ts';
import { migrate } from '../db/migrate.ts';
import { now } from '../db/time.ts';
import { inTransaction } from '../db/transaction.ts';
import { addAuditCommand, recordAct } from './audit.ts';
import { addBackupCommands } from './backup.ts';
import { openData } from './data.ts';
import { addDoctorCommand } from './doctor.ts';
import { takeEnvironmentFile } from './environment-file.ts';
import { existingWorkspace } from './existing-workspace.ts';
import { addGenerationCommands } from './generations.ts';
import { addKeyCommands } from './keys.ts';
import { addLinkCommands } from './links.ts';
import { addMediaCommands } from './media.ts';
import { CommandError, createOutput, type Output, type Streams, table } from './output.ts';
import { addPeopleCommands } from './people.ts';
import { addProviderCommands } from './providers.ts';
import { addStorageCommands } from './storage.ts';
import { addSweepCommand } from './sweep.ts';
import { addWorkerCommands } from './workers.ts';

/** What a command gets from its process. */
export interface Shell extends Streams {
  /** Returns the environment with the settings file, or with that of REVIEW_ENV_FILE if none is given. */
  loadEnvironment(file?: string): Environment;
}

/** Runs one `review` command and returns its exit code. */
export async function review(words: readonly string[], shell: Shell): Promise<number> {
  const output = createOutput(words.includes('--json'), shell);
  try {
    const { file, rest } = takeEnvironmentFile(words);
    const commands = program(shell.loadEnvironment(file), output, shell);
    await commands.parseAsync(
      rest.filter((word) => word !== '--json'),
      { from: 'user' },
    );
  } catch (error) {
    // Commander exits with 0 after it has printed the requested help.
    const helpShown = error instanceof CommanderError && error.exitCode === 0;
    if (!helpShown) output.fail(asCommandError(error));
  }
  return output.exitCode;
}

function program(environment: Environment, output: Output, { stdout, stderr }: Streams): Command {
  const data = openData(environment, output);
  const { withDatabase, withDeps } = data;
  const review = new Command('review')
    .description('Administration of the Project Review Service')
    .option('--json', 'print exactly one JSON value on standard output')
    .option('--env-file <path>', "a file with the server's settings; REVIEW_ENV_FILE names one too")
    .exitOverride()
    .configureOutput({ writeOut: stdout, writeErr: stderr, outputError: () => {} })
    .showHelpAfterError();

  review
    .command('migrate')
    .description('bring the database schema up to date, as the server does when it starts')
    .action(() =>
      withDatabase(
        async (opened) => {
          const applied = await migrate(opened);
          output.show({ applied }, applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The schema is up to date.');
        },
        { mayCreate: true },
      ),
    );

  const workspace = review.command('workspace').description('workspaces');
  workspace
    .command('create')
    .description('create a workspace')
    .requiredOption('--name <name>', 'its name')
    .option('--avatar-url <url>', 'the address of its picture')
    .action(({ name, avatarUrl }: { name: string; avatarUrl?: string }) =>
      withDatabase(async ({ db }) => {
        const id = await inTransaction(db, async (trx) => {
          const id = await insertWorkspace(trx, required('--name', name), avatarUrl ?? null);
          await recordAct(trx, { act: 'workspace.created', workspaceId: id, subjectId: id, data: { name } });
          return id;
        });
        output.show({ id }, `Workspace ${id}`);
      }),
    );

  const user = review.command('user').description('people');
  user
    .command('create')
    .description('create an account in a workspace; an e-mail that has an account joins that account to the workspace')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--email <address>', 'the e-mail address')
    .requiredOption('--name <name>', 'the name of the account')
    .option('--display-name <name>', 'the name shown in this workspace')
    .option('--avatar-url <url>', 'the address of the picture')
    .action((options: { workspace: string; email: string; name: string; displayName?: string; avatarUrl?: string }) =>
      withDatabase(async ({ db }) => {
        const workspaceId = await existingWorkspace(db, options.workspace);
        const email = z.email('--email: write an e-mail address').parse(options.email);
        const { avatarUrl } = options;
        const name = required('--name', options.name);
        const displayName = options.displayName && required('--display-name', options.displayName);
        const person = { workspaceId, email, name, displayName, avatarUrl };
        const id = await inTransaction(db, async (trx) => {
          const id = await joinWorkspace(trx, person);
          await recordAct(trx, { act: 'user.added', workspaceId, subjectId: id, data: { email } });
          return id;
        });
        output.show({ id }, `User ${id}`);
      }),
    );

  user
    .command('link')
    .description('link a subject of OAUTH_ISSUER to an account, replacing earlier links of both')
    .requiredOption('--email <address>', 'the e-mail address of the account')
    .requiredOption('--subject <sub>', 'the subject, as the tokens of the issuer name it')
    .action((options: { email: string; subject: string }) =>
      withDatabase(async ({ db }) => {
        const issuer = environment['OAUTH_ISSUER']?.trim();
        if (!issuer) throw new CommandError('OAUTH_ISSUER: required; set the same value as for the server');
        const id = await findUser(db, options.email);
        if (id === undefined) throw new CommandError(`--email: there is no account with the e-mail ${options.email}`);
        const subject = required('--subject', options.subject);
        await inTransaction(db, async (trx) => {
          await relinkSubject(trx, { issuer, subject }, id, now());
          await recordAct(trx, { act: 'user.linked', subjectId: id, data: { issuer, subject } });
        });
        output.show({ id, issuer, subject }, `${subject} of ${issuer} is user ${id}.`);
      }),
    );

  addPeopleCommands({ workspace, user }, data, output);

  addKeyCommands(review, data, output);
  addLinkCommands(review, data, output);
  addProviderCommands(review, data, output);
  addWorkerCommands(review, data, output);

  review
    .command('demo')
    .description('create a demo workspace with people in all five roles, projects and folders')
    .action(() =>
      withDeps(async (deps) => {
        const { createDemo } = await import('./demo.ts');
        const demo = await createDemo(deps);
        const rows = demo.people.map(({ name, email, role, key }) => [
          name,
          email,
          role,
          key ?? '(printed when it was created)',
        ]);
        output.show(demo, table(['NAME', 'E-MAIL', 'ROLE', 'KEY'], rows));
      }),
    );

  addGenerationCommands(review, data, output);
  addMediaCommands(review, data, output);
  addStorageCommands(review, data, output);
  addSweepCommand(review, data, output);
  addBackupCommands(review, data, output);
  addAuditCommand(review, data, output);
  addDoctorCommand(review, data, output);

  review
    .command('mcp')
    .description('serve the MCP tools of a running server over standard input and output')
    .addOption(
      new Option('--url <address>', 'the address of the server').env('REVIEW_URL').default('http://127.0.0.1:3000'),
    )
    .addOption(
      new Option(
        '--token <token>',
        'an API key or access token; prefer REVIEW_TOKEN, because other users can see options',
      ).env('REVIEW_TOKEN'),
    )
    .action(async ({ url, token }: { url: string; token?: string }) => {
      if (!URL.canParse(url)) throw new CommandError('--url: write an address such as https://review.example.com');
      if (!token) throw new CommandError('--token: write an API key, or set REVIEW_TOKEN');
      const { proxyTools } = await import('./mcp.ts');
      await proxyTools({ url, token });
    });
  return review;
}

function required(option: string, value: string): string {
  if (value.trim() === '') throw new CommandError(`${option}: must not be empty`);
  return value;
}

function asCommandError(error: unknown): unknown {
  if (error instanceof z.ZodError) return new CommandError(error.issues[0]?.message);
  if (!(error instanceof CommanderError)) return error;
  const isCommandMissing = error.code === 'commander.help';
  return new CommandError(
    isCommandMissing ? 'The command is missing. Use one of those above.' : error.message.replace(/^error: /, ''),
  );
}
