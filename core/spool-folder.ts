/** The folder of `listen.body.spool`: located and tested before the first upload. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { BodyLimits } from './config/core-sections.ts';
import type { ConfigFile } from './config/file.ts';

/**
 * The folder for uploaded files; default: the system's temporary folder. An unusable one is reported as a problem of
 * the file.
 */
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
