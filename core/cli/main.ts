/** The command line: `start`, `init`, `check`, `schema`, `restore`, and commands that run inside a gateway or without one. */
import { CORE_COMMANDS, type CommandWords } from '../assembly/core-commands.ts';
import '../bytes/json-parse.ts';
import { fstatSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { placeOfStore } from '../config/core-sections.ts';
import { readEnvironment } from '../config/environment.ts';
import { ConfigError, isInStore, readConfig, reasons } from '../config/file.ts';
import type { FirstSecrets, Gateway } from '../gateway/gateway.ts';
import {
  answerToWords,
  asksForHelp,
  type CommandLine,
  type CommandResult,
  EXIT,
  findCommand,
  inWords,
  misused,
  printed,
  readWords,
  usage,
} from '../operations/commands/command-line.ts';
import { askControl, controlPath } from '../operations/commands/control-socket.ts';
import { type CommandAnswer, type CommandRequest, StoreInUse, UsageError } from '../plugin.ts';
import { createLog, type Log, type LogLevel, logLevelOf, type ProcessLog } from '../runtime/logger.ts';
import { watchUnexpected } from '../runtime/unexpected.ts';
import { greeting } from './greeting.ts';

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

/** Runs the command line, and ends the process with its exit code. Calls `serving` when the gateway is ready. */
export async function main(args: readonly string[], serving: () => void = () => {}): Promise<never> {
  const [output, errors] = [writerTo(process.stdout), writerTo(process.stderr)];
  let hasServed = false;
  let code = await runCommandLine(args, {
    say: output.write,
    complain: errors.write,
    isWatched: process.stderr.isTTY === true,
    serving() {
      hasServed = true;
      serving();
    },
  });
  const lost = await output.lost();
  // Of a gateway that has served, what it printed is not needed.
  if (lost !== undefined && !hasServed) {
    errors.write(`standard output could not be written, so the result is lost: ${lost.message}`);
    if (code === EXIT.done) code = EXIT.failed;
  }
  await errors.lost();
  // Exit even if a plugin has left a timer or a connection open.
  return process.exit(code);
}

/** Writes lines to a standard stream. `lost`: why some were not written, when all others are. */
function writerTo(stream: NodeJS.WriteStream & { readonly fd: number }): {
  write(line: string): void;
  lost(): Promise<Error | undefined>;
} {
  let lost: Error | undefined;
  const fail = (error?: Error | null): void => {
    lost ??= error ?? undefined;
  };
  // Without a listener, a closed pipe would end the process in the middle of the work.
  stream.on('error', fail);
  const isFile = fstatSync(stream.fd).isFile();
  return {
    write(line) {
      if (!isFile) return void stream.write(ended(line), fail);
      // On a full disk, Node's own stream takes a part that was written for the whole.
      try {
        const bytes = Buffer.from(ended(line));
        for (let at = 0; at < bytes.length; ) at += writeSync(stream.fd, bytes, at);
      } catch (error) {
        fail(error as Error);
      }
    },
    lost: () => new Promise((done) => void stream.write('', () => done(lost))),
  };
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
  if (core === undefined || own === undefined) return runRounds(argv, configFile, terminal);
  const answered = answerToWords([core], argv);
  if (answered !== undefined) return show(answered, terminal);
  try {
    const words = readWords(core, argv);
    const done = await own({ ...words, ...terminal, configFile });
    if (typeof done === 'number') return done;
    const output = printed(core, words.values, done);
    if (output !== '') terminal.say(output);
    return EXIT.done;
  } catch (error) {
    if (error instanceof UsageError) return show(misused(core, error), terminal);
    throw error;
  }
}

/**
 * Runs a command that needs a gateway, as often as its answers ask for it. A later round that fails is told and tried again: the gateway may be
 * restarting.
 */
async function runRounds(argv: readonly string[], configFile: string, terminal: Terminal): Promise<number> {
  let input: Promise<string> | undefined;
  const readInput = (): Promise<string> => {
    input ??= text(process.stdin);
    return input;
  };
  let result = await runOnGateway({ argv, stdin: '', cwd: process.cwd(), configFile }, readInput, terminal);
  let code = show(result, terminal);
  if (result.againMs === undefined) return code;
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    let pauseMs = result.againMs;
    for (let round = 1; !interruption.signal.aborted; round++) {
      // An interrupted pause ends at once, and a last round follows.
      await pause(pauseMs, undefined, { signal: interruption.signal }).catch(() => undefined);
      const line = { argv, stdin: '', cwd: process.cwd(), configFile, round };
      result = await runOnGateway(line, readInput, terminal).catch((error: unknown) => ({
        code: codeOf(error),
        stdout: '',
        stderr: inWords(error),
      }));
      code = show(result, terminal);
      pauseMs = result.againMs ?? pauseMs;
    }
    return code;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/**
 * Runs a command that needs a gateway: in the running one, otherwise in one that this process opens. Help, and a command that does not exist, need
 * neither a gateway nor a store.
 */
async function runOnGateway(
  line: CommandLine & { readonly configFile: string },
  readInput: () => Promise<string>,
  terminal: Terminal,
): Promise<CommandResult> {
  const { argv, configFile } = line;
  const readsInput = argv.some((word) => /^(--[\w-]*-stdin|(--\w+=)?-)$/.test(word));
  // A running gateway knows its commands; input is not read for a command that would refuse it.
  const early = asksForHelp(argv) || readsInput ? undefined : await askRunning(configFile, line);
  if (early !== undefined) return early;
  const known = await commandsOf(configFile);
  const answer = answerToWords(known, argv);
  if (answer !== undefined && (asksForHelp(argv) || findCommand(known, argv) !== undefined)) return answer;
  const whole = readsInput ? { ...line, stdin: await readInput() } : line;
  const late = readsInput ? await askRunning(configFile, whole) : undefined;
  if (late !== undefined) return late;
  // A pipeline in the database may have commands that are not known here.
  const isUnknown = answer !== undefined && !isInStore(readConfig(configFile, process.env));
  return isUnknown ? answer : runHere(configFile, whole, terminal);
}

/** Prints the result of a command. Returns its exit code. */
function show({ code, stdout, stderr }: CommandResult, { say, complain }: Terminal): number {
  if (stdout !== '') say(stdout);
  if (stderr !== '') complain(stderr);
  return code;
}

/** The commands that run in this process even if a gateway runs: the exit code, or the output of a success. */
const OWN_COMMANDS: Readonly<Record<string, (invocation: Invocation) => Promise<number | string | CommandAnswer>>> = {
  start,
  init,
  check,
  'config check': check,
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
  completion,
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
  const { openGateway } = await import('../gateway/gateway.ts');
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
    const fail = (error: Error): void => {
      log.error('the gateway cannot continue: start it again', { reason: error.message });
      failed = true;
      end('SIGTERM');
    };
    gateway.failed.then(fail);
    watchUnexpected(log, fail);
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

/** Prints the effective configuration, or all errors of the file: of this one, whatever a running gateway has loaded. */
async function check({ configFile, values, say }: Invocation): Promise<number | CommandAnswer> {
  const { describeAssembly } = await import('./check.ts');
  try {
    const text = await describeAssembly(configFile, process.env);
    return { text, json: { problems: [], report: text.trimEnd().split('\n') } };
  } catch (error) {
    if (values.json !== true || !(error instanceof ConfigError)) throw error;
    say(JSON.stringify({ problems: error.problems, report: [] }));
    return EXIT.config;
  }
}

/** Lists the errors of core and the plugins. */
async function errors({ configFile }: Invocation): Promise<CommandAnswer> {
  return (await import('./check.ts')).describeErrors(configFile, process.env);
}

/** Writes or prints the JSON Schema of gateway.yaml for editors. */
async function schema({ configFile, positionals: [to] }: Invocation): Promise<string> {
  const [{ planFrom }, { editorSchema }, { throwIfWrong }] = await Promise.all([
    import('../assembly/assemble.ts'),
    import('../operations/config-editing/editor-schema.ts'),
    import('../config/sections.ts'),
  ]);
  const { sections, file } = await planFrom(configFile, process.env);
  if (!file.readable) throwIfWrong(file);
  const text = `${JSON.stringify(editorSchema(sections), null, 2)}\n`;
  if (to === '-') return text;
  const path = to === undefined ? fileURLToPath(new URL('../schema.json', import.meta.url)) : resolve(to);
  writeFileSync(path, text);
  return path;
}

/** Creates the folder of a new plugin in the working directory. */
async function newPlugin({ positionals, values }: Invocation): Promise<string> {
  const { newPlugin } = await import('./new-plugin.ts');
  return newPlugin(positionals[0]!, values.kind as string, process.cwd());
}

/** Replaces the database with a backup. Only while no gateway runs on it. */
async function restore({ positionals, configFile, complain }: Invocation): Promise<CommandAnswer> {
  const [{ driverOf, planForStore }, { throwIfWrong }, { storeFileOf, unfitKey, withoutBackup }] = await Promise.all([
    import('../assembly/assemble.ts'),
    import('../config/sections.ts'),
    import('../assembly/open-store.ts'),
  ]);
  const plan = await planForStore(configFile, process.env);
  throwIfWrong(plan.file);
  const driver = await driverOf(plan);
  if (driver.restore === undefined) throw new Error(withoutBackup(driver));
  const [from, file, log] = [resolve(positionals[0]!), storeFileOf(plan), processLog('warn', complain)];
  const kept = await driver.restore({ from, file, log });
  const unfit = await unfitKey(plan, log);
  if (unfit !== undefined) complain(`warning: ${unfit}`);
  return {
    text: `restored ${file} from ${from}${kept === undefined ? '' : `; the previous file is kept as ${kept}`}`,
    json: { file, from, kept: kept ?? null },
  };
}

/** Lists the stored backups. */
async function listBackups({ configFile }: Invocation): Promise<CommandAnswer> {
  return (await import('./backup-files.ts')).listBackups(configFile, process.env);
}

/** Writes a stored backup to a file. */
async function fetchBackup({ positionals, configFile }: Invocation): Promise<string> {
  const { fetchBackup } = await import('./backup-files.ts');
  return fetchBackup(configFile, process.env, positionals[0]!, resolve(positionals[1]!));
}

/** Proves a backup file. */
async function proveBackup({ positionals, configFile }: Invocation): Promise<CommandAnswer> {
  const { proveBackup } = await import('./backup-files.ts');
  return proveBackup(configFile, process.env, resolve(positionals[0]!));
}

/** Copies the store to another driver. */
async function copy({ configFile, values, complain }: Invocation): Promise<string> {
  const { copyStore } = await import('./store-copy.ts');
  const given = values.to as string;
  const to = /^[a-z]+:\/\//.test(given) ? given : resolve(given);
  return (await copyStore({ configFile, env: process.env, log: processLog('warn', complain) }, to)).join('\n');
}

/** Creates a new master key to replace a lost one, and lists the deleted secrets. */
async function recover({ configFile, complain }: Invocation): Promise<CommandAnswer> {
  const { recover } = await import('./offline.ts');
  const lost = await recover({ configFile, env: process.env, log: processLog('warn', complain) });
  const deleted = lost.length === 0 ? ['nothing'] : lost;
  return {
    text: `a new master key was created. Deleted, because it was sealed with the lost one:\n  ${deleted.join('\n  ')}`,
    json: { deleted: lost },
  };
}

/** Examines the gateway and what it depends on. */
async function doctor({ configFile, values, say }: Invocation): Promise<number> {
  const { describeDiagnoses, examineFile } = await import('../operations/commands/doctor.ts');
  const found = await examineFile(configFile, process.env);
  say(printed(CORE_COMMANDS.doctor, values, { text: describeDiagnoses(found), json: found }));
  return found.some(({ level }) => level === 'problem') ? EXIT.failed : EXIT.done;
}

/** Tests a newly installed version, and migrates the store of a stopped gateway. */
async function upgrade({ configFile, values, say, complain }: Invocation): Promise<number> {
  const { upgrade } = await import('./upgrade.ts');
  const dryRun = values['dry-run'] === true;
  const steps: string[] = [];
  const tell = values.json === true ? (line: string) => void steps.push(line) : say;
  await upgrade({ configFile, env: process.env, log: processLog('warn', complain) }, { dryRun, say: tell });
  if (values.json === true) say(JSON.stringify({ steps }));
  return EXIT.done;
}

/** Lists the commands of core and of the plugins. */
async function help({ configFile }: Invocation): Promise<CommandAnswer> {
  const commands = await commandsOf(configFile);
  let text = 'turnpike <command> [--config FILE] [--json]\n';
  for (const command of commands) {
    text += `  ${command.name.padEnd(24)}${command.summary}\n`;
    if (usage(command) !== command.name) text += `  ${''.padEnd(24)}${usage(command)}\n`;
  }
  const json = commands.map((command) => ({ name: command.name, summary: command.summary, usage: usage(command) }));
  return { text, json };
}

/** Prints a script that completes the commands of core and of the plugins in a shell. */
async function completion({ configFile, positionals }: Invocation): Promise<string> {
  const { completionScript } = await import('./completion.ts');
  return completionScript(positionals[0]!, await commandsOf(configFile));
}

async function version(): Promise<CommandAnswer> {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return { text: version, json: { version } };
}

/** Runs the command in the running gateway; undefined if none runs. */
async function askRunning(configFile: string, line: CommandLine): Promise<CommandResult | undefined> {
  // Errors in other sections must not prevent finding a gateway that still runs with an older file.
  const { dir, value } = readConfig(configFile, process.env);
  const store = typeof value.store === 'object' && value.store !== null ? value.store : {};
  return askControl(controlPath(resolve(dir, placeOfStore(store))), line);
}

/**
 * How much the heap of a command grows before it is collected, in percent of what lives in it. By itself it grows to a multiple, because collecting
 * less often is faster; commands such as an import make far more objects than they keep, and may run next to a gateway on a small machine.
 */
const HEAP_GROWTH = 15;

/** Runs the command in this process. Its heap's young part does not grow, either. */
async function runHere(configFile: string, line: CommandLine, { complain }: Terminal): Promise<CommandResult> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  setFlagsFromString('--semi-space-growth-factor=1');
  const { runAlone } = await import('./offline.ts');
  return runAlone({ configFile, env: process.env, log: processLog('warn', complain) }, line);
}

/** The commands of core, and those of the plugins of a configuration; of the one that ships, if there is none that can be loaded. */
async function commandsOf(configFile: string): Promise<readonly CommandWords[]> {
  const { commandList, SHIPPED } = await import('./check.ts');
  const ofPlugins = await commandList(configFile, process.env)
    .catch(() => commandList(fileURLToPath(SHIPPED), {}))
    .catch(() => []);
  return [...Object.values(CORE_COMMANDS), ...ofPlugins];
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
  let configFile: string | undefined;
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!;
    if (word === '--config' || word.startsWith('--config=')) {
      const value = word === '--config' ? args[++i] : word.slice('--config='.length);
      if (value === undefined || value === '') return '--config needs the path of a gateway.yaml';
      if (value === '-') return '--config needs the path of a file, because the file is read more than once';
      if (configFile !== undefined) return '--config is given twice';
      configFile = value;
    } else {
      argv.push(word);
    }
  }
  const spelling = SPELLINGS.get(argv[0]);
  if (spelling !== undefined) argv.splice(0, 1, spelling);
  // `help key create` is `key create --help`.
  const isAbout = argv[0] === CORE_COMMANDS.help.name && argv[1] !== undefined && !argv[1].startsWith('-');
  if (isAbout) argv.splice(0, argv.length, ...argv.slice(1), '--help');
  return { argv, configFile: resolve(configFile ?? (process.env.TURNPIKE_CONFIG || './gateway.yaml')) };
}
