/** `turnpike check`: what a gateway.yaml means, in words: who plays which phase, what is served, what is unwise. */
import { planFrom, rehearse } from './assembly.ts';
import { problemLine } from './config/file.ts';
import { silentLog } from './log.ts';
import { createPipeline } from './pipeline.ts';
import type { Command } from './plugin.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The whole report. Throws `ConfigError` with everything that is wrong. */
export async function describeAssembly(configFile: string, env: Env): Promise<string> {
  const assembly = await rehearse(await planFrom(configFile, env));
  const { players, styles, vendors, file } = assembly;
  const row = (name: string, text: string): string => `${name.padEnd(14)}${text}\n`;
  const phases = createPipeline(players, silentLog).describe();
  const routes = players.flatMap(({ parts }) => parts.routes ?? []);
  const passages = players.flatMap(({ parts }) => parts.passages ?? []);
  let report = '';
  for (const [phase, names] of phases) report += row(phase, names.length === 0 ? '(nobody)' : names.join(' → '));
  report += row('styles', [...styles.keys()].join(' ') || '(none)');
  report += row(
    'vendors',
    [...vendors.values()].map(({ name, speaks }) => `${name} (${Object.keys(speaks).join(' ')})`).join(', ') ||
      '(none)',
  );
  if (passages.length > 0) report += row('passages', passages.map(({ prefix }) => prefix).join(' '));
  report += row(
    'routes',
    routes
      .map(({ method, path, access }) => `${method} ${path} [${access === 'public' ? access : access.join(' ')}]`)
      .join(', ') || '(none)',
  );
  const lines = players.flatMap(({ name, parts }) => (parts.report?.() ?? []).map((line) => [name, line] as const));
  for (const [name, line] of lines.filter(([, text]) => !text.startsWith('warning: '))) report += row(name, line);
  for (const warning of file.warnings) report += `warning: ${problemLine(file.file, warning)}\n`;
  for (const [, line] of lines.filter(([, text]) => text.startsWith('warning: '))) report += `${line}\n`;
  return report;
}

/** The commands that the plugins of a configuration bring. */
export async function commandList(configFile: string, env: Env): Promise<readonly Command[]> {
  const { players } = await rehearse(await planFrom(configFile, env));
  return players.flatMap(({ parts }) => parts.commands ?? []);
}
