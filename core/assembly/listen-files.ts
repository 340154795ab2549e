/** The files and the folder that `listen` names: reads and checks the TLS certificate, tests the spool folder. */

import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { BodyLimits, Listen } from '../config/core-sections.ts';
import { unreadable } from '../config/environment.ts';
import type { ConfigFile } from '../config/file.ts';

/** Contents of PEM files. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads the files of `listen.tls`; undefined if it is not set. Unusable files are problems of the configuration. */
export function readTls(tls: Listen['tls'], file: ConfigFile): TlsFiles | undefined {
  if (tls === undefined) return undefined;
  const read = (which: 'cert' | 'key'): Buffer | undefined => {
    try {
      return readFileSync(resolve(file.dir, tls[which]));
    } catch (error) {
      file.problem(['listen', 'tls', which], `the file ${unreadable(error)}; paths are relative to this file`);
      return undefined;
    }
  };
  const proven = (which: 'cert' | 'key', files: Partial<TlsFiles>, wrong: string): boolean => {
    try {
      createSecureContext(files);
      return true;
    } catch {
      file.problem(['listen', 'tls', which], wrong);
      return false;
    }
  };
  const cert = read('cert');
  const key = read('key');
  if (cert === undefined || key === undefined) return undefined;
  if (!proven('cert', { cert }, 'the file does not contain a certificate in PEM format')) return undefined;
  return proven(
    'key',
    { cert, key },
    'the file does not contain a private key in PEM format that matches the certificate',
  )
    ? { cert, key }
    : undefined;
}

/** The folder for uploaded files; default: the system's temporary one. An unusable one is a problem of the file. */
export function spoolFolder({ spool }: BodyLimits, file: ConfigFile): string {
  if (spool === undefined) return tmpdir();
  const folder = resolve(file.dir, spool);
  // Created with the first file; `turnpike check` creates nothing.
  const known = existsSync(folder) ? folder : dirname(folder);
  if (!isWritable(known)) {
    const what = known === folder ? 'it' : 'the parent folder';
    file.problem(
      ['listen', 'body', 'spool'],
      `${what} is not a folder that this user can write to; paths are relative to this file`,
    );
  }
  return folder;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}
