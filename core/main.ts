/** The command line: `start`, `check`, `schema`, `restore`, and every command that works beside a running gateway and without one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { CORE_COMMANDS, type CommandResult, EXIT, usage } from './commands.ts';
import { DEFAULT_STORE_FILE, type StoreSection } from './config/core-sections.ts';
import { ConfigError, readConfig, reasons } from './config/file.ts';
import { askControl, controlPath } from './control.ts';
import type { Gateway } from './gateway.ts';
import { greeting } from './greeting.ts';
import { createLog, type Log } from './log.ts';
import { type Command, StoreInUse } from './plugin.ts';

interface Arguments {
  /** The words without `--config` and `--welcome`. */
  readonly argv: readonly string[];
  readonly configFile: string;
  readonly welcome: boolean;
}

const say = (line: string): boolean => process.stdout.write(line.endsWith('\n') ? line : `${line}\n`);
const complain = (line: string): boolean => process.stderr.write(line.endsWith('\n') ? line : `${line}\n`);

/** Runs the command line. Sets the exit code; `start` returns when the gateway has stopped. */
export async function main(args: readonly string[]): Promise<void> {
  // Whoever pipes our output away has still had our work done.
  process.stdout.on('error', () => {});
  const parsed = readArguments(args);
  if (typeof parsed === 'string') {
    complain(parsed);
    process.exitCode = EXIT.usage;
    return;
  }
  try {
    process.exitCode = await run(parsed);
  } catch (error) {
    complain((error as Error).message);
    process.exitCode =
      error instanceof ConfigError ? EXIT.config : error instanceof StoreInUse ? EXIT.storeInUse : EXIT.failed;
  }
}

async function run({ argv, configFile, welcome }: Arguments): Promise<number> {
  const own = OWN_COMMANDS[argv[0] ?? 'help'];
  if (own !== undefined) return own({ argv, configFile, welcome });
  const stdin = argv.some((word) => /^--[\w-]*-stdin$/.test(word)) ? await text(process.stdin) : '';
  const result = (await askRunning(configFile, argv, stdin)) ?? (await runAlone(configFile, argv, stdin));
  if (result.stdout !== '') say(result.stdout);
  if (result.stderr !== '') complain(result.stderr);
  return result.code;
}

const OWN_COMMANDS: Readonly<Record<string, (args: Arguments) => Promise<number>>> = {
  start,
  check,
  schema,
  restore,
  help,
  '--help': help,
  '--version': version,
};

/** Variables that have node or a library write requests to the terminal. */
const DEBUGGERS: readonly (readonly [name: string, talks: RegExp])[] = [
  ['DEBUG', /(^|[\s,])(\*|http-proxy)/],
  ['NODE_DEBUG', /http|net|tls|undici|fetch/i],
];

/** Serves until a signal ends it. */
async function start({ configFile, welcome }: Arguments): Promise<number> {
  const chatter = DEBUGGERS.find(([name, talks]) => talks.test(process.env[name] ?? ''));
  if (chatter !== undefined) {
    complain(
      `${chatter[0]}=${process.env[chatter[0]]} makes libraries print what they send, credentials too: unset it`,
    );
    return EXIT.failed;
  }
  const log = processLog(process.env.TURNPIKE_LOG_LEVEL === 'debug' ? 'debug' : 'info');
  const { openGateway } = await import('./gateway.ts');
  const gateway = await openGateway({ configFile, env: process.env, log });
  let ended = (): void => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const stop = signals(gateway, log, () => ended());
  const { url } = await gateway.listen().catch(async (error: Error) => {
    await gateway.stop();
    throw error;
  });
  const lines = greeting(gateway, url);
  if (lines !== undefined) {
    if (welcome || process.stderr.isTTY) complain(lines.text);
    else complain(lines.json);
  }
  log.info('ready', { url });
  say(`ready ${url}`);
  await end;
  stop();
  return EXIT.done;
}

/** SIGTERM and SIGINT drain, a second one cuts the drain short; SIGHUP reloads. */
function signals(gateway: Gateway, log: Log, stopped: () => void): () => void {
  let stopping = false;
  const end = (signal: NodeJS.Signals): void => {
    if (stopping) {
      gateway.hurry();
      return;
    }
    stopping = true;
    log.info('stopping', { signal });
    gateway
      .stop()
      .catch((error: unknown) => {
        log.error('the gateway did not stop well', { error });
        process.exitCode = EXIT.failed;
      })
      .finally(stopped);
  };
  const reload = (): void => {
    gateway.reload().catch((error: unknown) => log.error('gateway.yaml was not reloaded', reasons(error)));
  };
  process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', reload);
  return () => {
    process.off('SIGTERM', end).off('SIGINT', end).off('SIGHUP', reload);
  };
}

/** Says what the file means, or everything that is wrong with it. */
async function check({ configFile }: Arguments): Promise<number> {
  const { describeAssembly } = await import('./check.ts');
  say(await describeAssembly(configFile, process.env));
  return EXIT.done;
}

/** Writes the JSON Schema of gateway.yaml that editors read. */
async function schema({ configFile }: Arguments): Promise<number> {
  const [{ planFrom }, { editorSchema }] = await Promise.all([import('./assembly.ts'), import('./config/schema.ts')]);
  const { sections } = await planFrom(configFile, process.env);
  const path = fileURLToPath(new URL('./schema.json', import.meta.url));
  writeFileSync(path, `${JSON.stringify(editorSchema(sections), null, 2)}\n`);
  say(path);
  return EXIT.done;
}

/** Puts a backup in the place of the database. Only while no gateway runs on it. */
async function restore({ argv, configFile }: Arguments): Promise<number> {
  const from = argv[1];
  if (from === undefined || argv.length > 2) {
    complain('usage: turnpike restore FILE');
    return EXIT.usage;
  }
  const { driverOf, planFrom } = await import('./assembly.ts');
  const plan = await planFrom(configFile, process.env);
  const driver = await driverOf(plan);
  const { file } = plan.values.store as StoreSection;
  await driver.restore({ from: resolve(from), file: resolve(plan.file.dir, file), log: processLog('warn') });
  return EXIT.done;
}

async function help({ configFile }: Arguments): Promise<number> {
  say('turnpike <command> [--config FILE]\n');
  for (const [name, summary] of Object.entries(OWN_SUMMARIES)) say(`  ${name.padEnd(24)}${summary}`);
  for (const command of [...Object.values(CORE_COMMANDS), ...(await commandsOf(configFile))]) {
    say(`  ${command.name.padEnd(24)}${command.summary}`);
    if (usage(command) !== command.name) say(`  ${''.padEnd(24)}${usage(command)}`);
  }
  return EXIT.done;
}

const OWN_SUMMARIES: Readonly<Record<string, string>> = {
  start: 'serves; SIGTERM drains, SIGHUP reloads gateway.yaml',
  check: 'says what gateway.yaml means, or everything that is wrong with it',
  schema: 'writes the JSON Schema of gateway.yaml to core/schema.json',
  'restore FILE': 'puts a backup in the place of the database',
};

async function version(): Promise<number> {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  say(version);
  return EXIT.done;
}

/** Has the running gateway do it; undefined where none runs. */
async function askRunning(
  configFile: string,
  argv: readonly string[],
  stdin: string,
): Promise<CommandResult | undefined> {
  // Mistakes elsewhere in the file are no reason not to find a gateway that still runs on an older one.
  const { dir, value } = readConfig(configFile, process.env);
  const store = value.store as { readonly file?: unknown } | undefined;
  const storeFile = typeof store?.file === 'string' ? store.file : DEFAULT_STORE_FILE;
  return askControl(controlPath(resolve(dir, storeFile)), argv, stdin);
}

/** Does it with a gateway of our own that serves nobody. */
async function runAlone(configFile: string, argv: readonly string[], stdin: string): Promise<CommandResult> {
  const { openGateway } = await import('./gateway.ts');
  const gateway = await openGateway({ configFile, env: process.env, log: processLog('warn') });
  try {
    const result = await gateway.run(argv, stdin);
    const lines = greeting(gateway, undefined);
    return lines === undefined ? result : { ...result, stderr: `${lines.text}${result.stderr}` };
  } finally {
    await gateway.stop();
  }
}

/** The commands a configuration has; those of core alone where it cannot be opened. */
async function commandsOf(configFile: string): Promise<readonly Command[]> {
  try {
    const { commandList } = await import('./check.ts');
    return await commandList(configFile, process.env);
  } catch {
    return [];
  }
}

function processLog(level: 'debug' | 'info' | 'warn'): Log {
  return createLog({ level, write: (line) => process.stderr.write(`${line}\n`), now: () => Date.now() });
}

/** Takes what concerns every command out of the words; a sentence where they make no sense. */
function readArguments(args: readonly string[]): Arguments | string {
  const argv: string[] = [];
  let configFile = process.env.TURNPIKE_CONFIG ?? './gateway.yaml';
  let welcome = false;
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!;
    if (word === '--welcome') {
      welcome = true;
    } else if (word === '--config' || word.startsWith('--config=')) {
      const value = word === '--config' ? args[++i] : word.slice('--config='.length);
      if (value === undefined || value === '') return '--config needs the path of a gateway.yaml';
      configFile = value;
    } else {
      argv.push(word);
    }
  }
  return { argv, configFile: resolve(configFile), welcome };
}
