/** The folder of `listen.body.spool`: found, and proven to be of use before the first upload comes. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { BodyLimits } from './config/core-sections.ts';
import type { ConfigFile } from './config/file.ts';

/** Where files of forms are kept; the system's own folder for such where nobody says. What cannot be used is reported to the file. */
export function spoolFolder({ spool }: BodyLimits, file: ConfigFile): string {
  if (spool === undefined) return tmpdir();
  const folder = resolve(file.dir, spool);
  // It is made when the first file comes; `turnpike check` makes nothing.
  const known = existsSync(folder) ? folder : dirname(folder);
  if (!isWritable(known)) {
    const what = known === folder ? 'it' : 'the folder that it would be made in';
    file.problem(
      ['listen', 'body', 'spool'],
      `${what} is no folder that this user may write to; paths are relative to this file`,
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
