/** The complete configuration for a command: of a running gateway or of its store, if the file does not have all of it. */

import { existsSync } from 'node:fs';
import { earlyPlanOf, type Plan } from '../../assembly/assemble.ts';
import { isOnServer, keySourceOf, openForCommand, storeFileOf, vaultOf } from '../../assembly/open-store.ts';
import type { Env } from '../../config/environment.ts';
import { type ConfigFile, type ConfigOrigin, kindOf, needsStore, readConfig } from '../../config/file.ts';
import { throwIfWrong } from '../../config/sections.ts';
import type { Vault } from '../../contracts/host.ts';
import type { Command } from '../../plugin.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/logger.ts';
import { masterKeyOf } from '../../store/master-key.ts';
import { createVault } from '../../store/vault.ts';
import { type ConfigSource, readOrigin, sourceOf } from '../config-editing/config-source.ts';
import { keepConfig } from '../config-editing/versions.ts';
import { askControl, controlPath } from './control-socket.ts';

/**
 * Reads a configuration as its gateway does. Problems of the text are collected in it. Throws `ConfigError` if the store cannot be found or its master
 * key is wrong, and `StoreInUse` if another process uses it and answers no commands.
 */
export async function readComplete(path: string, env: Env): Promise<ConfigFile> {
  const file = readConfig(path, env);
  if (!needsStore(file)) return file;
  const early = await earlyPlanOf(file);
  throwIfWrong(file);
  const kind = kindOf(file);
  const running = await storedOfRunning(early);
  if (running !== undefined) return readOrigin({ kind, path, env, ...running });
  if (isBeforeFirstStart(early)) return readBeforeFirstStart(path, env);
  const store = await openForCommand(early, silentLog);
  try {
    const kept = keepConfig(store, await vaultOf(early, store, false), systemClock);
    return await sourceOf(path, env, kept, kind).read();
  } finally {
    await store.close();
  }
}

/** Whether there is no database yet, and that is certain: a database on a server is not asked. */
export function isBeforeFirstStart(early: Plan): boolean {
  return !isOnServer(early) && !existsSync(storeFileOf(early));
}

/** The configuration that the first start reads: there are no secrets, and the file has all sections. */
export function readBeforeFirstStart(path: string, env: Env): ConfigFile {
  return readConfig(path, env, new Map());
}

/** What the database has of a configuration. */
type Stored = Pick<ConfigOrigin, 'secrets' | 'text'>;

/** The name of the command, and the place that its answer is sealed for. */
const STORED = 'config stored';

/**
 * The command that asks a running gateway for what its database has: a command cannot open a database in one file while a gateway uses it. The answer
 * is sealed, so that only a process that has the master key can read it. Not a command for people: it is in no list.
 */
export function storedCommand(source: ConfigSource, vault: Vault): Command {
  return {
    name: STORED,
    summary: 'what the database has of the configuration, sealed with the master key',
    async run() {
      const { secrets, text } = await source.origin();
      return vault.seal(STORED, JSON.stringify({ secrets: [...secrets], text }));
    },
  };
}

/** Undefined: no gateway runs. */
async function storedOfRunning(early: Plan): Promise<Stored | undefined> {
  const line = { argv: STORED.split(' '), stdin: '', cwd: process.cwd() };
  const answer = await askControl(controlPath(storeFileOf(early)), line);
  if (answer === undefined || answer.code !== 0) return undefined;
  const vault = createVault(masterKeyOf(keySourceOf(early)));
  const { secrets, text } = JSON.parse(vault.open(STORED, answer.stdout.trim()));
  return { secrets: new Map(secrets), text };
}
