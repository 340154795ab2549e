/** Losses of power: the gateway writes to a disk of which, when it is killed, only what was synced is left. */
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

/** A disk under a folder, without the folders below it. */
export interface Disk {
  /** What a process needs in its environment that writes there. */
  readonly env: Readonly<Record<string, string>>;
  /** From here on everything that is in the folder now is safe. Call it before the process starts. */
  settle(): void;
  /**
   * The process was killed: the folder holds only what was synced, and of every sector that was written since, the new bytes with this
   * probability, as a disk may have got so far.
   */
  losePower(kept: number, random: Random): void;
}

/** What disks write as a whole. */
const SECTOR = 512;

/** Why there is no such disk here: a sentence; undefined where there is one. */
export function whyNoDisk(): string | undefined {
  if (process.platform !== 'linux') return 'losses of power are tried on Linux only: they need LD_PRELOAD and /proc';
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'losses of power are not tried: there is no C compiler (`cc`), which makes the disk that loses it';
  }
}

/** Compiles it. `scratch`: an empty folder of its own; `folder`: a real path. */
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
        // A file that has a name and was never synced is empty.
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

/** Takes over some of the sectors that are other bytes in `written` than in `file`; with them the file grows, and it does not shrink. */
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
