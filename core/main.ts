/** The command line: `start`, `init`, `check`, `schema`, `restore`, and commands that run inside a gateway or without one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  answerToWords,
  CORE_COMMANDS,
  type CommandLine,
  type CommandResult,
  EXIT,
  findCommand,
  inWords,
  misused,
  readWords,
  usage,
} from './commands.ts';
import { placeOfStore } from './config/core-sections.ts';
import { readEnvironment } from './config/environment.ts';
import { ConfigError, readConfig, reasons } from './config/file.ts';
import { askControl, controlPath } from './control.ts';
import type { FirstSecrets, Gateway } from './gateway.ts';
import { greeting } from './greeting.ts';
import { createLog, type Log, type LogLevel, logLevelOf, type ProcessLog } from './log.ts';
import { type Command, type CommandRequest, StoreInUse, UsageError } from './plugin.ts';

interface Arguments {
  /** The words without `--config`. */
  readonly argv: readonly string[];
  readonly configFile: string;
}

/** Standard output and standard error, by line. */
export interface Terminal {
  say(line: string): void;
  complain(line: string): void;
  /** Standard error is a terminal. */
  readonly isWatched: boolean;
  /** Called when the gateway serves. */
  readonly serving?: () => void;
}

/** Arguments of a command that runs in this process. */
interface Invocation extends Pick<CommandRequest, 'values' | 'positionals'>, Terminal {
  readonly configFile: string;
}

const ended = (line: string): string => (line.endsWith('\n') ? line : `${line}\n`);
const TERMINAL: Terminal = {
  say: (line) => void process.stdout.write(ended(line)),
  complain: (line) => void process.stderr.write(ended(line)),
  isWatched: process.stderr.isTTY === true,
};

/** Runs the command line, and ends the process with its exit code. Calls `serving` when the gateway is ready. */
export async function main(args: readonly string[], serving: () => void = () => {}): Promise<never> {
  // A closed pipe does not undo the work.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const code = await runCommandLine(args, { ...TERMINAL, serving });
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // Exit even if a plugin has left a timer or a connection open.
  return process.exit(code);
}

/** Resolves when all output was written, or cannot be. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => void stream.write('', () => done()));
}

/** Runs the command line in this process; returns its exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await run(args, terminal);
  } catch (error) {
    terminal.complain(inWords(error));
    return codeOf(error);
  }
}

function codeOf(error: unknown): number {
  return error instanceof ConfigError ? EXIT.config : error instanceof StoreInUse ? EXIT.storeInUse : EXIT.failed;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = readArguments(args);
  if (typeof parsed === 'string') {
    terminal.complain(parsed);
    return EXIT.usage;
  }
  const { argv, configFile } = parsed;
  const core = findCommand(Object.values(CORE_COMMANDS), argv);
  const own = core === undefined ? undefined : OWN_COMMANDS[core.name];
  if (core === undefined || own === undefined) {
    const stdin = argv.some((word) => /^(--[\w-]*-stdin|(--\w+=)?-)$/.test(word)) ? await text(process.stdin) : '';
    const line = { argv, stdin, cwd: process.cwd() };
    return show((await askRunning(configFile, line)) ?? (await runHere(configFile, line, terminal)), terminal);
  }
  const answered = answerToWords([core], argv);
  if (answered !== undefined) return show(answered, terminal);
  try {
    const done = await own({ ...readWords(core, argv), ...terminal, configFile });
    if (typeof done === 'number') return done;
    if (done !== '') terminal.say(done);
    return EXIT.done;
  } catch (error) {
    if (error instanceof UsageError) return show(misused(core, error), terminal);
    throw error;
  }
}

/** Prints the result of a command. Returns its exit code. */
function show({ code, stdout, stderr }: CommandResult, { say, complain }: Terminal): number {
  if (stdout !== '') say(stdout);
  if (stderr !== '') complain(stderr);
  return code;
}

/** The commands that run in this process even if a gateway runs: the exit code, or the output of a success. */
const OWN_COMMANDS: Readonly<Record<string, (invocation: Invocation) => Promise<number | string>>> = {
  start,
  init,
  check,
  errors,
  schema,
  restore,
  'store copy': copy,
  'backup list': listBackups,
  'backup fetch': fetchBackup,
  'backup prove': proveBackup,
  recover,
  doctor,
  upgrade,
  'plugin new': newPlugin,
  help,
  version,
};

/** Environment variables that make node or a library print requests to the terminal. */
const DEBUGGERS: readonly (readonly [name: string, talks: RegExp])[] = [
  ['DEBUG', /(^|[\s,])(\*|http-proxy)/],
  ['NODE_DEBUG', /http|net|tls|undici|fetch/i],
];

/** Serves until a signal. */
async function start({ configFile, values, say, complain, isWatched, serving }: Invocation): Promise<number> {
  const chatter = DEBUGGERS.find(([name, talks]) => talks.test(process.env[name] ?? ''));
  if (chatter !== undefined) {
    complain(
      `${chatter[0]}=${process.env[chatter[0]]} makes libraries print what they send, credentials too: unset it`,
    );
    return EXIT.failed;
  }
  const forPeople = values.welcome === true || isWatched;
  const log = processLog(
    logLevelOf(readEnvironment(dirname(configFile), process.env).env.TURNPIKE_LOG_LEVEL),
    complain,
  );
  const { openGateway } = await import('./gateway.ts');
  const firstSecrets: FirstSecrets = {};
  const greet = (url?: string): void => {
    const lines = greeting(firstSecrets, url === undefined ? undefined : { url, model: gateway?.exampleModel });
    if (lines === undefined) return;
    complain(forPeople ? lines.text : lines.json);
  };
  let gateway: Gateway | undefined;
  let ending: Ending | undefined;
  try {
    gateway = await openGateway({ configFile, env: process.env, log, firstSecrets });
    ending = untilSignal(gateway, log);
    const { url } = await gateway.listen();
    greet(url);
    log.info('ready', { url });
    say(`ready ${url}`);
    serving?.();
    return await ending.ended;
  } catch (error) {
    // They are created only once, and stay valid for the next start.
    greet();
    // A stop before the gateway was ready is not a failure.
    if (ending?.hasBegun() === true) return ending.ended;
    await gateway?.stop();
    if (forPeople) throw error;
    // If programs read the log, this must be a log line, too.
    log.error('the gateway did not start', reasons(error));
    return codeOf(error);
  }
}

/** The stop of a gateway by a signal. */
interface Ending {
  /** A signal has arrived. */
  hasBegun(): boolean;
  /** The exit code, when the gateway has stopped. */
  readonly ended: Promise<number>;
}

/** SIGTERM and SIGINT drain, a second one ends the drain; SIGHUP reloads. */
function untilSignal(gateway: Gateway, log: Log): Ending {
  let stopping = false;
  const ended = new Promise<number>((ended) => {
    let failed = false;
    const end = (signal: NodeJS.Signals): void => {
      if (stopping) {
        gateway.hurry();
        return;
      }
      stopping = true;
      log.info('stopping', { signal });
      gateway.stop().then(
        () => ended(failed ? EXIT.failed : EXIT.done),
        (error: unknown) => {
          log.error('the gateway failed to stop', { error });
          ended(EXIT.failed);
        },
      );
    };
    gateway.failed.then((error) => {
      log.error('the gateway cannot continue: start it again', { reason: error.message });
      failed = true;
      end('SIGTERM');
    });
    process.on('SIGTERM', end).on('SIGINT', end);
    process.on('SIGHUP', () => {
      gateway.reload().catch((error: unknown) => log.error('gateway.yaml was not reloaded', reasons(error)));
    });
  });
  return { hasBegun: () => stopping, ended };
}

/** Writes a configuration for an operator to edit. */
async function init({ positionals, values }: Invocation): Promise<string> {
  const { newConfiguration } = await import('./init.ts');
  return newConfiguration(
    positionals[0] ?? '.',
    process.cwd(),
    process.env,
    typeof values.url === 'string' ? values.url : undefined,
  );
}

/** Prints the effective configuration, or all errors of the file. */
async function check(invocation: Invocation): Promise<number | string> {
  const { configFile } = invocation;
  const [{ describeAssembly }, { needsStore }] = await Promise.all([
    import('./check.ts'),
    import('./config/source.ts'),
  ]);
  if (!needsStore(readConfig(configFile, process.env))) return describeAssembly(configFile, process.env);
  const line = { argv: CORE_COMMANDS.configCheck.name.split(' '), stdin: '', cwd: process.cwd() };
  const result = (await askRunning(configFile, line)) ?? (await runHere(configFile, line, invocation));
  return show(result, invocation) === EXIT.done ? EXIT.done : EXIT.config;
}

/** Lists the errors of core and the plugins. */
async function errors({ configFile }: Invocation): Promise<string> {
  return (await import('./check.ts')).describeErrors(configFile, process.env);
}

/** Writes the JSON Schema of gateway.yaml for editors. */
async function schema({ configFile }: Invocation): Promise<string> {
  const [{ planFrom }, { editorSchema }, { throwIfWrong }] = await Promise.all([
    import('./assembly.ts'),
    import('./config/schema.ts'),
    import('./config/sections.ts'),
  ]);
  const { sections, file } = await planFrom(configFile, process.env);
  if (!file.readable) throwIfWrong(file);
  const path = fileURLToPath(new URL('./schema.json', import.meta.url));
  writeFileSync(path, `${JSON.stringify(editorSchema(sections), null, 2)}\n`);
  return path;
}

/** Creates the folder of a new plugin in the working directory. */
async function newPlugin({ positionals, values }: Invocation): Promise<string> {
  const { newPlugin } = await import('./scaffold.ts');
  return newPlugin(positionals[0]!, values.kind as string | undefined, process.cwd());
}

/** Replaces the database with a backup. Only while no gateway runs on it. */
async function restore({ positionals, configFile, say, complain }: Invocation): Promise<number> {
  const [{ driverOf, planForStore }, { throwIfWrong }, { storeFileOf, unfitKey }] = await Promise.all([
    import('./assembly.ts'),
    import('./config/sections.ts'),
    import('./opening.ts'),
  ]);
  const plan = await planForStore(configFile, process.env);
  throwIfWrong(plan.file);
  const driver = await driverOf(plan);
  if (driver.restore === undefined) throw new Error(`the database is on a server: ${driver.server?.backup}`);
  const [from, file, log] = [resolve(positionals[0]!), storeFileOf(plan), processLog('warn', complain)];
  const kept = await driver.restore({ from, file, log });
  say(`restored ${file} from ${from}${kept === undefined ? '' : `; the previous file is kept as ${kept}`}`);
  const unfit = await unfitKey(plan, log);
  if (unfit !== undefined) complain(`warning: ${unfit}`);
  return EXIT.done;
}

/** Lists the stored backups. */
async function listBackups({ configFile }: Invocation): Promise<string> {
  return (await import('./backups/commands.ts')).listBackups(configFile, process.env);
}

/** Writes a stored backup to a file. */
async function fetchBackup({ positionals, configFile }: Invocation): Promise<string> {
  const { fetchBackup } = await import('./backups/commands.ts');
  return fetchBackup(configFile, process.env, positionals[0]!, resolve(positionals[1]!));
}

/** Proves a backup file. */
async function proveBackup({ positionals, configFile }: Invocation): Promise<string> {
  const { proveBackup } = await import('./backups/commands.ts');
  return proveBackup(configFile, process.env, resolve(positionals[0]!));
}

/** Copies the store to another driver. */
async function copy({ configFile, values, complain }: Invocation): Promise<string> {
  if (typeof values.to !== 'string') throw new UsageError('--to URL or --to FILE is missing');
  const { copyStore } = await import('./copy.ts');
  const to = /^[a-z]+:\/\//.test(values.to) ? values.to : resolve(values.to);
  return (await copyStore({ configFile, env: process.env, log: processLog('warn', complain) }, to)).join('\n');
}

/** Creates a new master key to replace a lost one, and lists the deleted secrets. */
async function recover({ configFile, values, complain }: Invocation): Promise<string> {
  if (values['without-master-key'] !== true) throw new UsageError('--without-master-key is missing');
  const { recover } = await import('./alone.ts');
  const lost = await recover({ configFile, env: process.env, log: processLog('warn', complain) });
  const deleted = lost.length === 0 ? ['nothing'] : lost;
  return `a new master key was created. Deleted, because it was sealed with the lost one:\n  ${deleted.join('\n  ')}`;
}

/** Examines the gateway and what it depends on. */
async function doctor({ configFile, values, say }: Invocation): Promise<number> {
  const { describeDiagnoses, examineFile } = await import('./doctor.ts');
  const found = await examineFile(configFile, process.env);
  say(values.json === true ? JSON.stringify(found, null, 2) : describeDiagnoses(found));
  return found.some(({ level }) => level === 'problem') ? EXIT.failed : EXIT.done;
}

/** Tests a newly installed version, and migrates the store of a stopped gateway. */
async function upgrade({ configFile, values, say, complain }: Invocation): Promise<number> {
  const { upgrade } = await import('./upgrade.ts');
  const dryRun = values['dry-run'] === true;
  await upgrade({ configFile, env: process.env, log: processLog('warn', complain) }, { dryRun, say });
  return EXIT.done;
}

/** Lists the commands of core and of the plugins. */
async function help({ configFile }: Invocation): Promise<string> {
  let text = 'turnpike <command> [--config FILE]\n';
  for (const command of [...Object.values(CORE_COMMANDS), ...(await commandsOf(configFile))]) {
    text += `  ${command.name.padEnd(24)}${command.summary}\n`;
    if (usage(command) !== command.name) text += `  ${''.padEnd(24)}${usage(command)}\n`;
  }
  return text;
}

async function version(): Promise<string> {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

/** Runs the command in the running gateway; undefined if none runs. */
async function askRunning(configFile: string, line: CommandLine): Promise<CommandResult | undefined> {
  // Errors in other sections must not prevent finding a gateway that still runs with an older file.
  const { dir, value } = readConfig(configFile, process.env);
  const store = typeof value.store === 'object' && value.store !== null ? value.store : {};
  return askControl(controlPath(resolve(dir, placeOfStore(store))), line);
}

/** Runs the command in this process. */
async function runHere(configFile: string, line: CommandLine, { complain }: Terminal): Promise<CommandResult> {
  const { runAlone } = await import('./alone.ts');
  return runAlone({ configFile, env: process.env, log: processLog('warn', complain) }, line);
}

/** The commands of a configuration; only those of core if it cannot be loaded. */
async function commandsOf(configFile: string): Promise<readonly Command[]> {
  try {
    const { commandList } = await import('./check.ts');
    return await commandList(configFile, process.env);
  } catch {
    return [];
  }
}

function processLog(level: LogLevel, write: Terminal['complain']): ProcessLog {
  return createLog({ level, write, now: () => Date.now() });
}

/** Aliases of `help` and `version`. */
const SPELLINGS: ReadonlyMap<string | undefined, string> = new Map([
  [undefined, 'help'],
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
]);

/** Extracts the global options from the words; a sentence if they are invalid. */
function readArguments(args: readonly string[]): Arguments | string {
  const argv: string[] = [];
  let configFile = process.env.TURNPIKE_CONFIG || './gateway.yaml';
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!;
    if (word === '--config' || word.startsWith('--config=')) {
      const value = word === '--config' ? args[++i] : word.slice('--config='.length);
      if (value === undefined || value === '') return '--config needs the path of a gateway.yaml';
      configFile = value;
    } else {
      argv.push(word);
    }
  }
  const spelling = SPELLINGS.get(argv[0]);
  if (spelling !== undefined) argv.splice(0, 1, spelling);
  return { argv, configFile: resolve(configFile) };
}
