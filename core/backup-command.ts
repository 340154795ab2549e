/** `turnpike backup`: copies the store and lists what else must be backed up. */
import { resolve } from 'node:path';
import { driverOf, type Plan } from './assembly.ts';
import type { Clock } from './clock.ts';
import { CORE_COMMANDS } from './commands.ts';
import type { Log } from './log.ts';
import { keepKey } from './opening.ts';
import type { Command, OpenStore } from './plugin.ts';
import { backUp } from './store.ts';

/** The command, on an open store. */
export function backupCommand(
  plan: Plan,
  store: OpenStore,
  tools: { readonly log: Log; readonly clock: Clock },
): Command {
  return {
    ...CORE_COMMANDS.backup,
    async run({ positionals, cwd, remark }) {
      const { backup } = store;
      if (backup === undefined)
        throw new Error(`the database is on a server: ${(await driverOf(plan)).server?.backup}`);
      const file = resolve(cwd, positionals[0]!);
      await backUp({ ...store, backup }, file, tools);
      remark(keepKey(plan));
      return file;
    },
  };
}
