/** What a plan and its plugins are, as `check`, `doctor` and reviews show it. */

import { createPipeline } from '../call/phases.ts';
import { problemLine } from '../config/file.ts';
import { Site } from '../contracts/site.ts';
import type { Route } from '../plugin.ts';
import { systemClock } from '../runtime/clock.ts';
import { createDeadlines } from '../runtime/deadlines.ts';
import { silentLog } from '../runtime/logger.ts';
import type { Assembly } from './assemble.ts';

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
