/** Replaces the content of a file in one step: whoever reads it sees the old text or the new one, also after a crash. */
import { randomBytes } from 'node:crypto';
import {
  access,
  constants,
  type FileHandle,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The file could not be written, such as on a full disk; the message is the reason, without its folder. */
export class NotWritten extends Error {}

/** Why a file cannot be replaced, without its folder; undefined: it can. */
export async function obstacleOf(file: string): Promise<string | undefined> {
  try {
    const target = await realpath(file);
    const { uid } = await stat(target);
    await access(target, constants.R_OK | constants.W_OK);
    await access(dirname(target), constants.W_OK | constants.X_OK);
    const user = process.getuid?.();
    if (user === undefined || user === 0 || user === uid) return undefined;
    return `${basename(target)} belongs to another user, to whom the gateway could not give the new file`;
  } catch (error) {
    return reasonOf(error, file);
  }
}

/**
 * Writes a new file next to it with the same mode and owner, flushes it, and renames it. Symbolic links are followed.
 * False: the file does not contain `from` any more, and nothing was changed. Throws `NotWritten` if it cannot be
 * written.
 */
export async function replaceFile(file: string, from: string, to: string): Promise<boolean> {
  const target = await realpath(file).catch((error: unknown) => {
    throw new NotWritten(reasonOf(error, file), { cause: error });
  });
  // A crash may have left some since the start. What cannot be removed must not keep a new text from being written.
  await removeDrafts(target, Date.now()).catch(() => {});
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
  try {
    const { mode, uid, gid } = await stat(target);
    const made = await open(draft, 'wx', 0o600);
    try {
      await made.writeFile(to);
      await ownedLike(made, uid, gid);
      await made.chmod(mode & 0o777);
      await made.sync();
    } finally {
      await made.close();
    }
    // Without a byte order mark, like `from`.
    if (new TextDecoder().decode(await readFile(target)) !== from) return false;
    await rename(draft, target);
    await synced(dirname(target));
    return true;
  } catch (error) {
    throw new NotWritten(reasonOf(error, target), { cause: error });
  } finally {
    // If this fails, the first error is the one that matters.
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** The random end of a draft's name. */
const DRAFT_END = /^[0-9a-f]{12}$/;
/** A younger draft may be that of a save that is running. */
const OLD_MS = 60_000;

/** Removes the drafts of a file that a crash has left: they have its secrets. */
export async function removeDrafts(file: string, nowMs: number): Promise<void> {
  const target = await realpath(file);
  const folder = dirname(target);
  const begin = `.${basename(target)}.`;
  const isDraft = (name: string): boolean => name.startsWith(begin) && DRAFT_END.test(name.slice(begin.length));
  await removeOld(folder, nowMs - OLD_MS, isDraft);
}

/** Removes the files and folders in a folder that are older than `beforeMs` and whose names fit, except those that have gone and those of other users. */
export async function removeOld(folder: string, beforeMs: number, fits: (name: string) => boolean): Promise<void> {
  for (const name of (await readdir(folder).catch(() => [])).filter(fits)) {
    const path = join(folder, name);
    const mtimeMs = await stat(path).then(
      (stats) => stats.mtimeMs,
      () => undefined,
    );
    if (mtimeMs === undefined || mtimeMs > beforeMs) continue;
    await rm(path, { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    });
  }
}

async function ownedLike(made: FileHandle, uid: number, gid: number): Promise<void> {
  const own = await made.stat();
  if (own.uid !== uid || own.gid !== gid) await made.chown(uid, gid);
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

function reasonOf(error: unknown, file: string): string {
  const { code } = error as NodeJS.ErrnoException;
  const name = basename(file);
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `the gateway's user may not write ${name}, or its folder`;
    case 'EROFS':
      return `${name} is on a read-only file system`;
    case 'EBUSY':
      return `${name} is mounted on its own and cannot be replaced; mount its folder instead`;
    case 'ENOENT':
      return `${name} does not exist`;
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return `${name} cannot be written (${code ?? 'unknown reason'})`;
  }
}
