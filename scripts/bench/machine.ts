/** The machine of a bench: cores for pinning, programs, descriptors, free ports. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

/** The cores of the measured server, and those of everything else. */
export const CORE = { server: '0', load: '1', both: '0,1' } as const;

/** Whether a program is installed. */
export function has(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Whether processes can be pinned to a core. */
export const canPin: boolean = availableParallelism() >= 2 && has('taskset');

/** The same command, pinned to some cores if possible. */
export function onCore(cores: string, command: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', cores, ...command] : command;
}

/** Pins a running process with all its threads. */
export function moveTo(cores: string, pid: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', cores, String(pid)], { stdio: 'ignore' });
}

/** Maximum open files and connections per process. */
export function descriptors(): number {
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' });
  return stdout?.trim() === 'unlimited' ? Infinity : Number(stdout?.trim() || 1_024);
}

/** One line: `2 × AMD EPYC, node v20.20.2, linux`. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  return `${availableParallelism()} × ${model}, node ${process.version}, ${process.platform}`;
}

/** The memory of a process in KiB; undefined if it has ended. */
export function residentKib(pid: number): number | undefined {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** A process and its descendants. */
export function familyOf(pid: number): readonly number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  const family = [pid];
  // The list grows while it is iterated.
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

function parentOf(pid: string): number | undefined {
  try {
    // After the program name, which may contain anything: the state, then the parent.
    return Number(/^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** Starts measuring; the returned function gives the CPU share of other processes since, 0 to 1. */
export function watchOthers(): () => number {
  const before = cpuTimes();
  return () => {
    const after = cpuTimes();
    const spent = after.all - before.all - (after.idle - before.idle) - (after.ours - before.ours);
    return Math.max(0, spent / (after.all - before.all));
  };
}

/**
 * Hundredths of a second since the start of the machine: of all cores, of idle ones, of this process and its ended
 * children.
 */
function cpuTimes(): { readonly all: number; readonly idle: number; readonly ours: number } {
  // user, nice, system, idle, iowait, irq, softirq, steal; guest time is included in the first two.
  const times = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.trim().split(/\s+/).slice(1, 9).map(Number);
  const own = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 15)
    .map(Number);
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  return { all: sum(times), idle: times[3]! + times[4]!, ours: sum(own) };
}
