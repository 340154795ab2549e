/** Opens the configured store: for a gateway, which creates it on the first start, or a command, which never does. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEFAULT_DRIVER, placeOfStore, type StoreSection } from '../config/core-sections.ts';
import type { ConfigFile } from '../config/file.ts';
import { throwIfWrong } from '../config/sections.ts';
import type { Vault } from '../contracts/host.ts';
import { socketPath } from '../helpers/private-socket.ts';
import {
  type Command,
  type OpenStore,
  type StoreDriver,
  StoreMissing,
  type StoreOpening,
  type StoreSharing,
} from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';
import { type KeySource, keySource, openVault } from '../store/master-key.ts';
import { backUp, openStore } from '../store/migrations.ts';
import { driverOf, type Plan } from './assemble.ts';
import { CORE_COMMANDS } from './core-commands.ts';
import { loadDriver } from './plugin-loader.ts';

/** Lets the driver prepare for opening the store while the plugins are loaded and checked. */
export async function prepareStore({ dir, value }: ConfigFile): Promise<void> {
  const { driver = DEFAULT_DRIVER } = (value.store ?? {}) as Partial<StoreSection>;
  // Errors are reported when the file is checked.
  const found = await loadDriver(String(driver), dir).catch(() => undefined);
  found?.prepare?.();
}

/** The absolute path of the database file; if the database is a server, the base path of the local files. */
export function storeFileOf({ file, values }: Plan): string {
  return resolve(file.dir, placeOfStore(values.store as StoreSection));
}

/** Whether the configured database is a server. */
export function isOnServer({ values }: Plan): boolean {
  return (values.store as StoreSection).url !== undefined;
}

/** The source of the master key of the configured store. */
export function keySourceOf(plan: Plan): KeySource {
  return keySource(storeFileOf(plan), plan.env);
}

/** The reminder to keep a copy of the master key separately from every backup. */
export function keepKey(plan: Plan): string {
  return `The master key is not in it: keep a copy of ${keySourceOf(plan).where} in another place.`;
}

/**
 * Opens the store for a gateway, with `shared` for its workers, too. Creates it if there is none, unless other files
 * prove that there was one: then it throws `ConfigError`, as for everything that the operator has to correct. Throws
 * `StoreInUse`.
 */
export async function openToServe(plan: Plan, log: Log, shared?: StoreSharing): Promise<OpenStore> {
  try {
    return await open(plan, log, { mustExist: existsSync(keySourceOf(plan).file), ...(shared && { shared }) });
  } catch (error) {
    if (!(error instanceof StoreMissing)) throw error;
    const file = storeFileOf(plan);
    const leftovers = [`${file}.key`, `${file}-wal`, `${file}-shm`].filter((name) => existsSync(name));
    const advice = leftovers.length === 0 ? '' : `. To begin with an empty database, move away ${leftovers.join(', ')}`;
    return decline(plan, ['store', isOnServer(plan) ? 'url' : 'file'], `${missing(plan, error)}${advice}`);
  }
}

/** Attaches a worker of this name to the store of the owner. */
export async function attachStore(plan: Plan, log: Log, name: string): Promise<OpenStore> {
  const driver = await driverOf(plan);
  if (driver.attach === undefined) throw new Error('its store cannot be used with `listen.workers`');
  const file = storeFileOf(plan);
  return driver.attach({ file, socket: storeSocketOf(file), name, log });
}

/** The socket through which the workers of a database reach the writing process. */
export function storeSocketOf(storeFile: string): string {
  return socketPath(storeFile, '.writer');
}

/** Opens an existing store for a command. Throws if there is none, and `StoreInUse`. */
export async function openForCommand(plan: Plan, log: Log): Promise<OpenStore> {
  try {
    return await open(plan, log, { mustExist: true, isBrief: true });
  } catch (error) {
    if (!(error instanceof StoreMissing)) throw error;
    const first = existsSync(keySourceOf(plan).file) ? '' : '; if there never was one, `turnpike start` creates it';
    throw new Error(`${missing(plan, error)}${first}`);
  }
}

/** The reason why the next start cannot use the store: its master key is missing, or is another one. Undefined: nothing. */
export async function unfitKey(plan: Plan, log: Log): Promise<string | undefined> {
  const store = await openForCommand(plan, log);
  try {
    await openVault(keySourceOf(plan), store, false);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await store.close();
  }
}

/** The vault of an open store. Throws `ConfigError` if its master key is missing or wrong. */
export async function vaultOf(plan: Plan, store: OpenStore, mayMake: boolean): Promise<Vault> {
  try {
    return await openVault(keySourceOf(plan), store, mayMake);
  } catch (error) {
    return decline(plan, ['store'], error instanceof Error ? error.message : String(error));
  }
}

async function open(
  plan: Plan,
  log: Log,
  how: Pick<StoreOpening, 'mustExist' | 'isBrief' | 'shared'>,
): Promise<OpenStore> {
  const driver = await driverOf(plan);
  const settings = plan.values.store as Readonly<Record<string, unknown>>;
  return openStore({ driver, file: storeFileOf(plan), settings, log, ...how });
}

function missing(plan: Plan, { message }: StoreMissing): string {
  const { file } = keySourceOf(plan);
  const proof = existsSync(file) ? `, but its master key ${file} is there` : '';
  const cure = isOnServer(plan) ? 'with the tools of the server' : 'with `turnpike restore FILE`';
  return `there is no database: ${message}${proof}. If there was one, put it back, or restore a backup ${cure}`;
}

/** An error of the store is reported at its place in the file. */
function decline({ file }: Plan, path: readonly string[], message: string): never {
  file.problem(path, message);
  throwIfWrong(file);
  throw new Error(message);
}

/** Why the gateway cannot copy the database of this driver. */
export function withoutBackup({ server }: Pick<StoreDriver, 'server'>): string {
  return server === undefined
    ? 'the driver of this database makes no copies; use the tools of the database'
    : `the database is on a server: ${server.backup}`;
}

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
      if (backup === undefined) throw new Error(withoutBackup(await driverOf(plan)));
      const file = resolve(cwd, positionals[0]!);
      await backUp({ ...store, backup }, file, tools);
      remark(keepKey(plan));
      return file;
    },
  };
}
