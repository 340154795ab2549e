/** Commands that run without a gateway: on an existing store, which they neither create nor upgrade. */
import { type Plan, planFrom, rehearse } from './assembly.ts';
import { systemClock } from './clock.ts';
import {
  answerToWords,
  CORE_COMMANDS,
  type CommandLine,
  type CommandResult,
  findCommand,
  runCommand,
} from './commands.ts';
import { Audit, COMMAND_LINE } from './contracts/audit.ts';
import { type GatewayOptions, openPlanned } from './gateway.ts';
import { newVault } from './master-key.ts';
import { backupCommand, keySourceOf, openForCommand } from './opening.ts';
import type { Surrender } from './plugin.ts';
import { CORE_TABLES, requireUpToDate } from './store.ts';

/** Runs a command. Usage errors are reported before the store is opened. Throws `ConfigError`, `StoreInUse`. */
export async function runAlone(options: GatewayOptions, line: CommandLine): Promise<CommandResult> {
  const core = findCommand(Object.values(CORE_COMMANDS), line.argv);
  const early = core === undefined ? undefined : answerToWords([core], line.argv);
  if (early !== undefined) return early;
  const plan = await planFrom(options.configFile, options.env, options.plugins);
  const { players } = await rehearse(plan);
  const commands = [...Object.values(CORE_COMMANDS), ...players.flatMap(({ parts }) => parts.commands ?? [])];
  const answered = answerToWords(commands, line.argv);
  if (answered !== undefined) return answered;
  // A backup copies the store whatever version created it.
  if (core?.name === CORE_COMMANDS.backup.name) return backUpAlone(plan, options, line);
  const gateway = await openPlanned(plan, options, true);
  try {
    return await gateway.run(line);
  } finally {
    await gateway.stop();
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
  await rehearse(plan);
  const store = await openForCommand(plan, log);
  try {
    await requireUpToDate(store, [CORE_TABLES, ...plan.plugins]);
    const { vault, steps, finish } = await newVault(keySourceOf(plan), store);
    const { players, find } = await rehearse(plan, { store, vault, log, clock: clock ?? systemClock });
    const secrets: Surrender[] = [];
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
