/** `turnpike check` reports what gateway.yaml configures; `turnpike errors`, the errors of core and plugins. */

import { readFileSync } from 'node:fs';
import { type Plan, planFrom, planOf, rehearse } from '../assembly/assemble.ts';
import { isOnServer, keySourceOf, storeFileOf } from '../assembly/open-store.ts';
import { reportOf } from '../assembly/report.ts';
import { throwIfWrong } from '../config/sections.ts';
import { parseYaml } from '../config/yaml.ts';
import { table } from '../helpers/text-table.ts';
import { readComplete } from '../operations/commands/stored-config.ts';
import type { Command, CommandAnswer } from '../plugin.ts';
import { createRedactor } from '../runtime/logger.ts';
import { missingKey } from '../store/master-key.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The whole report, with the secrets of the database, also if a gateway has it open. Throws `ConfigError` with all problems. */
export async function describeAssembly(configFile: string, env: Env): Promise<string> {
  const plan = await planOf(await readComplete(configFile, env), []);
  const assembly = await rehearse(plan);
  const missing = isOnServer(plan) ? undefined : missingKey(keySourceOf(plan), storeFileOf(plan));
  if (missing !== undefined) assembly.file.warn(['store'], missing);
  const redactor = createRedactor();
  for (const secret of plan.file.secrets) redactor.hide(secret);
  return redactor.redact(reportOf(assembly, assembly.file.file) + describeUnlisted(plan));
}

/** The configuration that ships with this version. */
export const SHIPPED = new URL('../../gateway.yaml', import.meta.url);

/** A note that names the plugins of the shipped pipeline that this one neither lists nor has as a comment, `# - NAME`. */
function describeUnlisted({ file, plugins }: Plan): string {
  const shipped = parseYaml(readFileSync(SHIPPED, 'utf8')).doc.toJS() as { readonly pipeline: readonly string[] };
  const unlisted = shipped.pipeline.filter(
    (use) =>
      !plugins.some(({ name }) => name === use) && !new RegExp(`^\\s*#\\s*- ${use}(?![\\w/-])`, 'm').test(file.text),
  );
  if (unlisted.length === 0) return '';
  return `note: \`pipeline\` lacks plugins that ship with this version: ${unlisted.join(', ')}. Add those that you want, and the others as comments: "# - ${unlisted[0]}"\n`;
}

/** The errors of core and of the plugins, as a table. Throws `ConfigError` with everything that is wrong. */
export async function describeErrors(configFile: string, env: Env): Promise<CommandAnswer> {
  const { file, errors } = await planFrom(configFile, env);
  throwIfWrong(file);
  const sorted = [...errors.values()].sort((a, b) => a.statuses[0]! - b.statuses[0]!);
  const rows = sorted.map(({ statuses, code, owner, help }) => [statuses.join(' '), code, owner, help]);
  return {
    text: table([['STATUS', 'CODE', 'FROM', 'MEANING'], ...rows]),
    json: sorted.map(({ statuses, code, owner, help }) => ({ statuses, code, owner, help })),
  };
}

/** The commands that the plugins of a configuration add. */
export async function commandList(configFile: string, env: Env): Promise<readonly Command[]> {
  const { players } = await rehearse(await planFrom(configFile, env));
  return players.flatMap(({ parts }) => parts.commands ?? []);
}
