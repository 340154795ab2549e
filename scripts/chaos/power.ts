/** Simulated power failures: of what the gateway has written, only synced data is left. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Random } from './random.ts';

/** A simulated disk for a folder, without its subfolders. */
export interface Disk {
  /** Environment variables for a process that writes there. */
  readonly env: Readonly<Record<string, string>>;
  /** Marks all current files as synced. Call it before the process starts. */
  settle(): void;
  /**
   * Restores the folder to what was synced; each sector written since is kept with this probability, as a disk may have
   * written it.
   */
  losePower(kept: number, random: Random): void;
}

/** The unit that disks write atomically. */
const SECTOR = 512;

/** Why this is not supported here: a sentence; undefined if it is. */
export function whyNoDisk(): string | undefined {
  if (process.platform !== 'linux') return 'warnings of power are tried on Linux only: they need LD_PRELOAD and /proc';
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'warnings of power are not tried: there is no C compiler (`cc`), which makes the disk that loses it';
  }
}

/** Compiles it. `scratch`: an empty folder; `folder`: a real path. */
export function createDisk(folder: string, scratch: string): Disk {
  const library = join(scratch, 'synced.so');
  const image = join(scratch, 'image');
  const source = fileURLToPath(new URL('./synced.c', import.meta.url));
  execFileSync('cc', ['-O2', '-fPIC', '-shared', '-o', library, source, '-lpthread']);

  return {
    env: { LD_PRELOAD: library, TURNPIKE_SYNCED_FOLDER: folder, TURNPIKE_SYNCED_IMAGE: image },
    settle() {
      rmSync(image, { recursive: true, force: true });
      mkdirSync(image);
      const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
      const names = files.map(({ name }) => {
        const { ino } = statSync(join(folder, name));
        copyFileSync(join(folder, name), join(image, `${ino}`));
        return `${ino} ${name}\n`;
      });
      writeFileSync(join(image, 'names'), names.join(''));
    },
    losePower(kept, random) {
      const left = join(scratch, 'left');
      mkdirSync(left);
      for (const line of readFileSync(join(image, 'names'), 'utf8').split('\n').slice(0, -1)) {
        const space = line.indexOf(' ');
        const name = line.slice(space + 1);
        const synced = join(image, line.slice(0, space));
        // A file that was never synced is empty.
        if (existsSync(synced)) copyFileSync(synced, join(left, name));
        else writeFileSync(join(left, name), '');
        if (existsSync(join(folder, name))) takeOver(join(folder, name), join(left, name), kept, random);
      }
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
      for (const name of readdirSync(left)) copyFileSync(join(left, name), join(folder, name));
      rmSync(left, { recursive: true });
    },
  };
}

/** Copies some of the sectors of `written` that differ from `file`; the file may grow, but does not shrink. */
function takeOver(written: string, file: string, kept: number, random: Random): void {
  const bytes = readFileSync(written);
  const handle = openSync(file, 'r+');
  const sector = Buffer.alloc(SECTOR);
  for (let at = 0; at < bytes.length; at += SECTOR) {
    const now = bytes.subarray(at, at + SECTOR);
    const length = readSync(handle, sector, 0, now.length, at);
    if (length === now.length && now.equals(sector.subarray(0, length))) continue;
    if (random.next() < kept) writeSync(handle, now, 0, now.length, at);
  }
  closeSync(handle);
}
