/** `turnpike check` reports what gateway.yaml configures; `turnpike errors`, the errors of core and plugins. */
import { readFileSync } from 'node:fs';
import { type Assembly, type Plan, planFrom, planOf, rehearse } from '../assembly/assemble.ts';
import { createPipeline } from '../call/phases.ts';
import { problemLine } from '../config/file.ts';
import { throwIfWrong } from '../config/sections.ts';
import { parseYaml } from '../config/yaml.ts';
import { Site } from '../contracts/site.ts';
import { table } from '../helpers/text-table.ts';
import { readComplete } from '../operations/commands/stored-config.ts';
import type { Command, CommandAnswer, Route } from '../plugin.ts';
import { systemClock } from '../runtime/clock.ts';
import { createDeadlines } from '../runtime/deadlines.ts';
import { createRedactor, silentLog } from '../runtime/logger.ts';
import { missingKey } from '../store/master-key.ts';
import { isOnServer, keySourceOf, storeFileOf } from '../store/open-store.ts';

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

/** The report of an assembly; `name`: of its file. */
export function reportOf(assembly: Assembly, name: string): string {
  const { players, styles, vendors, file, listen, tls } = assembly;
  if (assembly.find(Site)?.secure === true && tls === undefined && listen.trustProxy.length === 0) {
    file.warn(
      ['listen'],
      'console.url is https and listen.tls is not set, so there is a proxy; without its address in listen.trustProxy all users share one address, and one sign-in limit',
    );
  }
  const row = (name: string, text: string): string => `${name.padEnd(14)}${text}\n`;
  const phases = createPipeline(players, silentLog, createDeadlines(systemClock)).describe();
  const routes = players.flatMap(({ parts }) => parts.routes ?? []);
  const passthroughRoutes = players.flatMap(({ parts }) => parts.passthroughRoutes ?? []);
  let report = '';
  if (listen.workers > 1) report += row('workers', `${listen.workers} processes serve calls, one more answers routes`);
  for (const [phase, names] of phases) report += row(phase, names.length === 0 ? '(none)' : names.join(' → '));
  report += row('styles', [...styles.keys()].join(' ') || '(none)');
  report += row(
    'vendors',
    [...vendors.values()].map(({ name, speaks }) => `${name} (${Object.keys(speaks).join(' ')})`).join(', ') ||
      '(none)',
  );
  if (passthroughRoutes.length > 0)
    report += row('passthroughRoutes', passthroughRoutes.map(({ prefix }) => prefix).join(' '));
  report += row('routes', describeRoutes(routes) || '(none)');
  const guards = players.flatMap(({ parts }) => Object.keys(parts.guards ?? {}));
  // Those of single scopes and limits are of the plugin's own routes.
  report += row('guards', guards.filter((name) => !/\.(?:scope|limit)\./.test(name)).join(' ') || '(none)');
  const lines = players.flatMap(({ name, parts }) => (parts.report?.() ?? []).map((line) => [name, line] as const));
  for (const [plugin, line] of lines.filter(([, text]) => !text.startsWith('warning: '))) report += row(plugin, line);
  for (const warning of file.warnings) report += `warning: ${problemLine(name, warning)}\n`;
  for (const [, line] of lines.filter(([, text]) => text.startsWith('warning: '))) report += `${line}\n`;
  return report;
}

/** Folders with more routes are summarized. */
const MOST_TOLD = 30;

/** Every route with its guards; folders with too many routes are summarized by their number. */
function describeRoutes(routes: readonly Route[]): string {
  const folderOf = ({ path }: Route): string => `/${path.split('/')[1]}`;
  const counts = new Map<string, number>();
  for (const route of routes) counts.set(folderOf(route), (counts.get(folderOf(route)) ?? 0) + 1);
  const isTold = (route: Route): boolean => counts.get(folderOf(route))! <= MOST_TOLD;
  const listed = routes
    .filter(isTold)
    .map(({ method, path, access }) => `${method} ${path} [${access === 'public' ? access : access.join(' ')}]`);
  const counted = [...counts].filter(([, count]) => count > MOST_TOLD);
  return [...listed, ...counted.map(([folder, count]) => `${count} below ${folder}`)].join(', ');
}

/** The commands that the plugins of a configuration add. */
export async function commandList(configFile: string, env: Env): Promise<readonly Command[]> {
  const { players } = await rehearse(await planFrom(configFile, env));
  return players.flatMap(({ parts }) => parts.commands ?? []);
}
