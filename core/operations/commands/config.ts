/** `turnpike config …`: exports, imports and checks the configuration, and sets its secrets. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CORE_COMMANDS } from '../../assembly/core-commands.ts';
import { SECRET_NAME } from '../../config/interpolation.ts';
import { type Audit, COMMAND_LINE } from '../../contracts/audit.ts';
import type { Saved } from '../../contracts/configuring.ts';
import type { JsonObject } from '../../contracts/formats/json.ts';
import type { Remark } from '../../contracts/running.ts';
import { secondsOf } from '../../contracts/shown.ts';
import { table } from '../../helpers/text-table.ts';
import { type Command, type Step, UsageError } from '../../plugin.ts';
import type { ConfiguringWatch } from '../config-editing/change-config.ts';
import type { ConfigSource } from '../config-editing/config-source.ts';
import { CommandFailed } from './command-line.ts';

/** The dependencies: those of a running gateway, or of a store without one. */
export interface ConfigCommandTools {
  readonly source: ConfigSource;
  readonly configuring: ConfiguringWatch;
  audit(): Audit | undefined;
}

/** The commands. */
export function createConfigCommands({ source, configuring, audit }: ConfigCommandTools): readonly Command[] {
  const { service } = configuring;

  const audited = (action: string, object: string, facts: JsonObject = {}): readonly Step[] =>
    audit()?.steps({ actor: COMMAND_LINE, action, object, facts }) ?? [];
  const lineOf = ({ line, column, path, message }: Remark): string =>
    `${source.name}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
  const failIfWrong = (problems: readonly Remark[]): void => {
    if (problems.length > 0) throw new CommandFailed(`${problems.map(lineOf).join('\n')}\n`);
  };

  return [
    { ...CORE_COMMANDS.configExport, run: async () => (await source.read()).text },
    {
      ...CORE_COMMANDS.configImport,
      async run({ positionals: [file = ''], cwd }) {
        const text = readFileSync(resolve(cwd, file), 'utf8');
        const note = `config import ${file}`;
        const saved = await configuring.replace(text, {
          note,
          actor: COMMAND_LINE,
          steps: (version) => audited('config.save', 'gateway.yaml', { version, note }),
        });
        return resultOf(saved, failIfWrong);
      },
    },
    {
      ...CORE_COMMANDS.secretSet,
      async run({ positionals: [name = ''], stdin, remark }) {
        if (!SECRET_NAME.test(name))
          throw new UsageError('the name has only letters, digits, "_" and "-", and begins with a letter');
        const value = stdin.replace(/\r?\n$/, '');
        if (value === '') throw new UsageError('standard input is empty');
        const problems = await service.setSecret(
          name,
          value,
          COMMAND_LINE,
          audited('config.secret.set', `secret ${name}`),
        );
        for (const problem of problems) remark(`not loaded: ${lineOf(problem)}`);
        return `${name} is set`;
      },
    },
    {
      ...CORE_COMMANDS.secretList,
      async run() {
        const secrets = await service.secrets();
        const json = secrets.map(({ name, setMs, setBy, usedIn }) => ({
          name,
          set_at: secondsOf(setMs),
          set_by: setBy,
          used_in: usedIn,
        }));
        if (secrets.length === 0) return { text: 'no secrets', json };
        const rows = secrets.map(({ name, setMs, setBy, usedIn }) => [
          name,
          new Date(setMs).toISOString(),
          setBy,
          usedIn.join(' '),
        ]);
        return { text: table([['NAME', 'SET', 'BY', 'USED IN'], ...rows]), json };
      },
    },
    {
      ...CORE_COMMANDS.secretDelete,
      async run({ positionals: [name = ''] }) {
        const done = await service.deleteSecret(name, audited('config.secret.delete', `secret ${name}`));
        if (done.outcome === 'used') throw new Error(`the configuration uses ${name}: ${done.usedIn.join(', ')}`);
        if (done.outcome === 'unknown') throw new Error(`there is no secret ${name}`);
        return `${name} is deleted`;
      },
    },
  ];
}

function resultOf(saved: Saved, failIfWrong: (problems: readonly Remark[]) => void): string {
  switch (saved.outcome) {
    case 'saved':
      return `version ${saved.version} is saved`;
    case 'wrong':
      failIfWrong(saved.problems);
      return '';
    case 'refused':
      throw new Error(saved.reason.message);
    case 'conflict':
      throw new Error('the configuration was changed by another process; try again');
  }
}
