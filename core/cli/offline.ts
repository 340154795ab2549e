/** Commands that run without a gateway: on an existing store, which they neither create nor upgrade. */

import { earlyPlanOf, type Plan, planFrom, planOf, rehearse } from '../assembly/assemble.ts';
import { CORE_COMMANDS } from '../assembly/core-commands.ts';
import { backupCommand, keySourceOf, openForCommand, vaultOf } from '../assembly/open-store.ts';
import { type ConfigFile, kindOf, needsStore, readConfig, requireFile } from '../config/file.ts';
import { throwIfWrong } from '../config/sections.ts';
import { Audit, COMMAND_LINE } from '../contracts/audit.ts';
import type { Vault } from '../contracts/host.ts';
import { aloneOf } from '../contracts/peers.ts';
import { type GatewayOptions, openPlanned } from '../gateway/gateway.ts';
import {
  answerToWords,
  type CommandLine,
  type CommandResult,
  findCommand,
  runCommand,
} from '../operations/commands/command-line.ts';
import { createConfigCommands } from '../operations/commands/config.ts';
import { createConfiguring } from '../operations/config-editing/change-config.ts';
import { sourceOf } from '../operations/config-editing/config-source.ts';
import { createConfiguration, createJudge } from '../operations/config-editing/review.ts';
import { keepConfig, surrenderConfig } from '../operations/config-editing/versions.ts';
import { noAsking } from '../outgoing/vendor-request.ts';
import type { Command, OpenStore, Surrender } from '../plugin.ts';
import { systemClock } from '../runtime/clock.ts';
import { boot } from '../runtime/ids.ts';
import { newVault } from '../store/master-key.ts';
import { CORE_TABLES, requireUpToDate } from '../store/migrations.ts';

/** Runs a command. Usage errors are reported before the store is opened. Throws `ConfigError`, `StoreInUse`. */
export async function runAlone(options: GatewayOptions, line: CommandLine): Promise<CommandResult> {
  const core = findCommand(Object.values(CORE_COMMANDS), line.argv);
  const early = core === undefined ? undefined : answerToWords([core], line.argv);
  if (early !== undefined) return early;
  const file = readConfig(options.configFile, options.env);
  if (core?.name.startsWith('config ')) return configureAlone(file, options, line);
  // What is in the database is checked when that is open.
  if (needsStore(file)) {
    const early = await earlyPlanOf(file);
    throwIfWrong(file);
    if (core?.name === CORE_COMMANDS.backup.name) return backUpAlone(early, options, line);
    return runOpened(early, options, line);
  }
  const plan = await planOf(file, options.plugins ?? []);
  const { players } = await rehearse(plan);
  const commands = [...Object.values(CORE_COMMANDS), ...players.flatMap(({ parts }) => parts.commands ?? [])];
  const answered = answerToWords(commands, line.argv);
  if (answered !== undefined) return answered;
  // A backup copies the store whatever version created it.
  if (core?.name === CORE_COMMANDS.backup.name) return backUpAlone(plan, options, line);
  return runOpened(plan, options, line);
}

async function runOpened(plan: Plan, options: GatewayOptions, line: CommandLine): Promise<CommandResult> {
  const gateway = await openPlanned(plan, options, true);
  try {
    return await gateway.run(line);
  } finally {
    await gateway.stop();
  }
}

/** `turnpike config …`: needs an open store, but no configuration that can be loaded. */
async function configureAlone(file: ConfigFile, options: GatewayOptions, line: CommandLine): Promise<CommandResult> {
  const early = await earlyPlanOf(file);
  if (!file.readable) throwIfWrong(file);
  const store = await openForCommand(early, options.log);
  try {
    await requireUpToDate(store, [CORE_TABLES]);
    const vault = await vaultOf(early, store, false);
    return await runCommand(await configCommandsAlone(file, early, { store, vault }, options), line);
  } finally {
    await store.close();
  }
}

async function backUpAlone(
  plan: Plan,
  { log, clock = systemClock }: GatewayOptions,
  line: CommandLine,
): Promise<CommandResult> {
  const store = await openForCommand(plan, log);
  try {
    return await runCommand([backupCommand(plan, store, { log, clock })], line);
  } finally {
    await store.close();
  }
}

/**
 * `turnpike recover --without-master-key`: creates a new master key for a store that has lost its own and deletes what
 * was sealed with the old one, in one atomic list. Returns the lines to print. Throws `ConfigError`, `StoreInUse`, and
 * if the key is not lost.
 */
export async function recover({ configFile, env, log, clock, plugins }: GatewayOptions): Promise<readonly string[]> {
  const plan = await planFrom(configFile, env, plugins);
  requireFile(plan.file);
  await rehearse(plan);
  const store = await openForCommand(plan, log);
  try {
    await requireUpToDate(store, [CORE_TABLES, ...plan.plugins]);
    const { vault, steps, finish } = await newVault(keySourceOf(plan), store);
    const { players, find } = await rehearse(plan, { store, vault, log, clock: clock ?? systemClock });
    const secrets: Surrender[] = [...(await surrenderConfig(store))];
    for (const { parts } of players) secrets.push(...((await parts.surrender?.()) ?? []));
    const what = secrets.map((part) => part.what);
    const event = { actor: COMMAND_LINE, action: 'master-key.replace', object: '', facts: { lost: [...what] } };
    await store.atomic([...steps, ...secrets.flatMap((part) => part.steps), ...(find(Audit)?.steps(event) ?? [])]);
    finish();
    return what;
  } finally {
    await store.close();
  }
}

/** The commands on the store of a gateway that is not running, even if its configuration cannot be loaded. */
export async function configCommandsAlone(
  file: ConfigFile,
  early: Plan,
  { store, vault }: { readonly store: OpenStore; readonly vault: Vault },
  { configFile, env, plugins = [], log, clock = systemClock }: GatewayOptions,
): Promise<readonly Command[]> {
  const kept = keepConfig(store, vault, clock);
  const source = sourceOf(configFile, env, kept, kindOf(file));
  const texts = {
    source,
    plugins,
    loaded: () => ({ plan: early, number: 0, loadedMs: 0 }),
    refuseRestart: () => {},
    // The next start loads it.
    reload: async () => {},
  };
  const judge = createJudge(texts, vault);
  const configuring = createConfiguring({
    ...texts,
    judge,
    kept,
    running: createConfiguration(texts, judge),
    ask: noAsking('no gateway runs'),
    peers: aloneOf(boot),
    clock,
    log,
  });
  // Without a configuration that can be loaded there is no audit log.
  const assembly = await planOf(await source.read(), plugins)
    .then((plan) => rehearse(plan, { store, vault, clock, log }))
    .catch(() => undefined);
  return createConfigCommands({ source, configuring, audit: () => assembly?.find(Audit) });
}
