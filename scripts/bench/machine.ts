/** What this machine offers a bench: cores to pin to, programs, descriptors, free ports. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

/** Where whoever is measured runs, and where everything else does. */
export const CORE = { server: '0', load: '1', both: '0,1' } as const;

/** Whether a program is installed. */
export function has(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Whether processes can be kept on a core of their own. */
export const canPin: boolean = process.platform === 'linux' && availableParallelism() >= 2 && has('taskset');

/** The same command, kept on some cores where that is possible. */
export function onCore(cores: string, command: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', cores, ...command] : command;
}

/** Moves a running process, with all its threads. */
export function moveTo(cores: string, pid: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', cores, String(pid)], { stdio: 'ignore' });
}

/** How many files and connections one process may have open. */
export function descriptors(): number {
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' });
  return stdout?.trim() === 'unlimited' ? Infinity : Number(stdout?.trim() || 1_024);
}

/** One line: `2 × AMD EPYC, node v20.20.2, linux`. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  return `${availableParallelism()} × ${model}, node ${process.version}, ${process.platform}`;
}

/** The memory of a process, in KiB; undefined where the system does not say. */
export function residentKib(pid: number): number | undefined {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** A process and all that it has started, as far as the system says. */
export function familyOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') return [pid];
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  const family = [pid];
  // What is found is looked through as well.
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

function parentOf(pid: string): number | undefined {
  try {
    // Behind the name of the program, which may hold anything: the state, then the parent.
    return Number(/^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** Notes what the machine does from now on; then says which part of its cores others took meanwhile, 0 to 1. Undefined where it does not say. */
export function watchOthers(): () => number | undefined {
  const before = cpuTimes();
  return () => {
    const after = cpuTimes();
    if (before === undefined || after === undefined) return undefined;
    const spent = after.all - before.all - (after.idle - before.idle) - (after.ours - before.ours);
    return Math.max(0, spent / (after.all - before.all));
  };
}

/** Hundredths of a second since the machine started: of all cores, of those idle, of this process with the processes that it saw the end of. */
function cpuTimes(): { readonly all: number; readonly idle: number; readonly ours: number } | undefined {
  if (process.platform !== 'linux') return undefined;
  // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is in the first two again.
  const times = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.trim().split(/\s+/).slice(1, 9).map(Number);
  const own = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 15)
    .map(Number);
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  return { all: sum(times), idle: times[3]! + times[4]!, ours: sum(own) };
}
