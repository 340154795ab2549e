/** Commands where no gateway runs: on a store that is there, which they neither make nor upgrade. */
import { type Plan, planFrom, rehearse } from './assembly.ts';
import { backupCommand } from './backup-command.ts';
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
import { keySourceOf, openForCommand } from './opening.ts';
import type { Surrender } from './plugin.ts';
import { CORE_TABLES, requireUpToDate } from './store.ts';

/** Runs a command. Words that make no command are answered before anything is opened. Throws `ConfigError`, `StoreInUse`. */
export async function runAlone(options: GatewayOptions, line: CommandLine): Promise<CommandResult> {
  const core = findCommand(Object.values(CORE_COMMANDS), line.argv);
  const early = core === undefined ? undefined : answerToWords([core], line.argv);
  if (early !== undefined) return early;
  const plan = await planFrom(options.configFile, options.env, options.plugins);
  const { players } = await rehearse(plan);
  const known = [...Object.values(CORE_COMMANDS), ...players.flatMap(({ parts }) => parts.commands ?? [])];
  const answered = answerToWords(known, line.argv);
  if (answered !== undefined) return answered;
  // A copy of what is there, whichever version made it.
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
 * `turnpike recover --without-master-key`: a store whose master key is lost gets a new one, and what was sealed with the old one is given
 * up, all in one list. What to tell of it, one line each. Throws if nothing is lost, `ConfigError`, `StoreInUse`.
 */
export async function recover({ configFile, env, log, clock, plugins }: GatewayOptions): Promise<readonly string[]> {
  const plan = await planFrom(configFile, env, plugins);
  await rehearse(plan);
  const store = await openForCommand(plan, log);
  try {
    await requireUpToDate(store, [CORE_TABLES, ...plan.plugins]);
    const { vault, steps, finish } = await newVault(keySourceOf(plan), store);
    const { players, find } = await rehearse(plan, { store, vault, log, clock: clock ?? systemClock });
    const lost: Surrender[] = [];
    for (const { parts } of players) lost.push(...((await parts.surrender?.()) ?? []));
    const what = lost.map((part) => part.what);
    const event = { actor: COMMAND_LINE, action: 'master-key.replace', object: '', facts: { lost: [...what] } };
    await store.atomic([...steps, ...lost.flatMap((part) => part.steps), ...(find(Audit)?.steps(event) ?? [])]);
    finish();
    return what;
  } finally {
    await store.close();
  }
}
