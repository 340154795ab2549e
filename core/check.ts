/** `turnpike check`: what a gateway.yaml means, in words: who plays which phase, what is served, what is unwise. */
import { type Assembly, assemble, driverOf, planFrom } from './assembly.ts';
import { systemClock } from './clock.ts';
import { problemLine } from './config/file.ts';
import { throwIfWrong } from './config/sections.ts';
import { FirstStart } from './contracts/first-start.ts';
import type { Log } from './log.ts';
import { createPipeline } from './pipeline.ts';
import type { Command, Step, Store, Value } from './plugin.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The whole report. Throws `ConfigError` with everything that is wrong. */
export async function describeAssembly(configFile: string, env: Env): Promise<string> {
  const assembly = await assembleOnly(configFile, env);
  const { players, styles, vendors, file } = assembly;
  const row = (name: string, text: string): string => `${name.padEnd(14)}${text}\n`;
  const phases = createPipeline(players, silent).describe();
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
  const { players } = await assembleOnly(configFile, env);
  return players.flatMap(({ parts }) => parts.commands ?? []);
}

/** Everything created and linked, nothing started, no store opened. */
async function assembleOnly(configFile: string, env: Env): Promise<Assembly> {
  const plan = await planFrom(configFile, env);
  throwIfWrong(plan.file);
  await driverOf(plan);
  const assembly = await assemble(plan, {
    store: noStore,
    log: silent,
    clock: systemClock,
    lasting: new Map(),
    provided: new Map([[FirstStart.id, { note: () => {} } satisfies FirstStart]]),
  });
  assembly.link();
  return assembly;
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };

const closed = (): Promise<never> => Promise.reject(new Error('`check` opens no store; only `start` may use it'));
const noStore: Store = {
  one: (_sql: string, ..._params: readonly Value[]) => closed(),
  all: (_sql: string, ..._params: readonly Value[]) => closed(),
  run: (_sql: string, ..._params: readonly Value[]) => closed(),
  atomic: (_steps: readonly Step[]) => closed(),
};
