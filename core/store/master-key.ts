/** The master key of a store: where it is kept, how the first one is created, and how a lost one is replaced. */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { unreadable } from '../config/environment.ts';
import type { Vault } from '../contracts/host.ts';
import type { OpenStore, Step } from '../plugin.ts';
import { rememberVault, sealedWith } from './migrations.ts';
import { createVault, KEY_BYTES, readMasterKey } from './vault.ts';

/** The source of the master key. */
export interface KeySource {
  /** The file next to the database. */
  readonly file: string;
  /** The key from the environment, as text; takes precedence over the file. */
  readonly given: string | undefined;
  /** What contains the key, for messages: the variable or the file. */
  readonly where: string;
}

/** The source of the master key of the store in `storeFile`. Throws if the file that the environment names cannot be read. */
export function keySource(storeFile: string, env: Readonly<Record<string, string | undefined>>): KeySource {
  const file = `${storeFile}.key`;
  if (env.TURNPIKE_MASTER_KEY) return { file, given: env.TURNPIKE_MASTER_KEY, where: 'TURNPIKE_MASTER_KEY' };
  const named = env.TURNPIKE_MASTER_KEY_FILE;
  if (named) return { file, given: readNamed(named), where: named };
  return { file, given: undefined, where: file };
}

/** The content of TURNPIKE_MASTER_KEY_FILE. A group may read it: systemd shares credentials with the service's user in that way. */
function readNamed(file: string): string {
  try {
    if ((statSync(file).mode & 0o007) !== 0) throw new Error(`others may read ${file}: chmod 600 it`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(code === undefined ? message : `the file ${file} of TURNPIKE_MASTER_KEY_FILE ${unreadable(error)}`);
  }
}

/**
 * The vault of a store. If nothing was sealed in the store yet, a key is created if `mayMake`. The key file gets its
 * final name after the store has recorded the key, so that a key file next to a store without a record proves that the
 * store has lost its content. Throws if the key is missing or another one, or if the store has lost its content.
 */
export async function openVault(source: KeySource, store: OpenStore, mayMake: boolean): Promise<Vault> {
  const { file, given } = source;
  const sealed = await sealedWith(store);
  if (sealed === undefined && !mayMake) throw new Error('the first start has not finished: run `turnpike start`');
  if (given !== undefined) return remembered(store, createVault(readMasterKey(given)));
  if (existsSync(file)) {
    if (sealed === undefined) {
      throw new Error(
        `the database is empty, but ${file} is the master key of an earlier database: put that database back, or restore a backup. ` +
          `To begin with an empty database, move ${file} away`,
      );
    }
    return remembered(store, createVault(readKeyFile(file)));
  }
  if (sealed === undefined) {
    const vault = await remembered(store, createVault(draftKey(file)));
    nameDraft(file);
    return vault;
  }
  // Power failed between the two steps.
  const draft = drafted(file);
  if (draft?.keyId !== sealed) {
    throw new Error(
      `the master key of this store is missing: put ${file} back, or set TURNPIKE_MASTER_KEY. If it is permanently lost, ` +
        '`turnpike recover --without-master-key` deletes the data that was sealed with it and keeps everything else',
    );
  }
  nameDraft(file);
  return draft;
}

/** A vault with a new master key that replaces a lost one. Throws if it is not lost. */
export async function newVault(
  { file, given, where }: KeySource,
  store: OpenStore,
): Promise<{
  readonly vault: Vault;
  /** The steps that record it in the store instead of the lost one. */
  readonly steps: readonly Step[];
  /** Call it after the steps are written. */
  finish(): void;
}> {
  const sealed = await sealedWith(store);
  if (given === undefined && existsSync(file)) {
    if (createVault(readKeyFile(file)).keyId === sealed) throw new Error(`nothing is lost: ${where} is the master key`);
    throw new Error(`${file} is the master key of another database: move it away first`);
  }
  if (drafted(file)?.keyId === sealed) throw new Error('nothing is lost: the next start finds the master key');
  const vault = createVault(given === undefined ? draftKey(file) : readMasterKey(given));
  if (vault.keyId === sealed) throw new Error(`nothing is lost: ${where} is the master key`);
  return {
    vault,
    steps: [{ sql: 'UPDATE vault SET key_id = ?', params: [vault.keyId] }],
    finish: () => {
      if (given === undefined) nameDraft(file);
    },
  };
}

/** Problems with the key's location that can be detected without opening the store; undefined: none. */
export function missingKey({ file, given }: KeySource, storeFile: string): string | undefined {
  const isThere = (statSync(storeFile, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (isThere && given === undefined) {
    if (!existsSync(file)) return `the master key ${file} is missing: put it back, or set TURNPIKE_MASTER_KEY`;
    try {
      readKeyFile(file);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  if (!isThere && existsSync(file)) return `${file} is there, but its database ${storeFile} is missing or empty`;
  return undefined;
}

async function remembered(store: OpenStore, vault: Vault): Promise<Vault> {
  await rememberVault(store, vault);
  return vault;
}

/** The master key of a source. Throws if it is missing or unreadable. */
export function masterKeyOf({ file, given }: KeySource): Buffer {
  return given === undefined ? readKeyFile(file) : readMasterKey(given);
}

/** The master key in a file. Throws if others may read the file, or it contains no key. */
export function readKeyFile(file: string): Buffer {
  const { mode } = statSync(file);
  if ((mode & 0o077) !== 0) throw new Error(`others may read ${file}: chmod 600 it`);
  const key = Buffer.from(readFileSync(file, 'utf8'), 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new Error(`${file} does not contain a master key: put the right one back, or set TURNPIKE_MASTER_KEY`);
}

const draftOf = (file: string): string => `${file}.new`;

/** Writes a new key to the disk under a temporary name. The caller has the store locked. */
export function draftKey(file: string): Buffer {
  const draft = draftOf(file);
  rmSync(draft, { force: true });
  const key = randomBytes(KEY_BYTES);
  const made = openSync(draft, 'wx', 0o600);
  writeSync(made, `${key.toString('base64')}\n`);
  fsyncSync(made);
  closeSync(made);
  syncFolder(file);
  return key;
}

/** Renames the temporary file. */
export function nameDraft(file: string): void {
  renameSync(draftOf(file), file);
  syncFolder(file);
}

function drafted(file: string): Vault | undefined {
  return existsSync(draftOf(file)) ? createVault(readKeyFile(draftOf(file))) : undefined;
}

function syncFolder(file: string): void {
  const folder = openSync(dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}
