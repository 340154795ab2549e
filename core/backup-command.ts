/** `turnpike backup`: a copy of the store, and what has to be kept beside it. */
import { resolve } from 'node:path';
import type { Plan } from './assembly.ts';
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
      const file = resolve(cwd, positionals[0]!);
      await backUp(store, file, tools);
      remark(keepKey(plan));
      return file;
    },
  };
}
