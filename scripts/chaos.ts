/**
 * `npm run chaos [-- --kills N] [--power N] [--floods] [--seed N]`: kills the gateway under load repeatedly, then also
 * simulates power failures, and counts warnings; then floods it. If some of the three are named, only they run; if only
 * floods are, response times are checked as well. `npm run chaos -- --gateways 3 [--rounds 60]`: a cluster with a fault
 * in each round.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { floods } from './chaos/floods.ts';
import { type ChaosReport, killLoops } from './chaos/loop.ts';
import { whyNoDisk } from './chaos/power.ts';
import { clusterRounds, type RoundsReport, type RoundsViolation } from './chaos/rounds.ts';
import { missingForCluster } from './cluster/cluster.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    power: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    floods: { type: 'boolean', default: false },
    gateways: { type: 'string' },
    rounds: { type: 'string', default: '60' },
  },
});
const isAll = [values.kills, values.power, values.gateways].every((value) => value === undefined) && !values.floods;
const kills = wholeNumber('kills', values.kills ?? (isAll ? '100' : '0'));
const warnings = wholeNumber('power', values.power ?? (isAll ? '10' : '0'));
const gateways = wholeNumber('gateways', values.gateways ?? '0');
const rounds = wholeNumber('rounds', values.rounds);
const onlyFloods = kills === 0 && warnings === 0 && gateways === 0;
const seed = wholeNumber('seed', values.seed);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** A loop waits half of its time for one process: two loops keep two cores busy. */
const LOOPS = availableParallelism() > 1 ? 2 : 1;

/** Concurrent calls at each gateway of a cluster. */
const CALLERS = 12;

/** Duration of each flood. */
const FLOOD_SECONDS = 10;

const killed = kills === 0 || (await killAgainAndAgain(false));
const unpowered = warnings === 0 || (await takePower());
const flooded = !(isAll || values.floods) || (await flood());
const clustered = gateways === 0 || (await failAgainAndAgain());
process.exitCode = killed && unpowered && flooded && clustered ? 0 : 1;

/** True if nothing was lost. */
async function failAgainAndAgain(): Promise<boolean> {
  const missing = missingForCluster();
  for (const line of missing) process.stderr.write(`${line}\n`);
  if (missing.length > 0) return false;
  say(`\n${gateways} gateways, seed ${seed}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const startedMs = performance.now();
  const report = await clusterRounds({ gateways, rounds, seed, callers: CALLERS, progress: say });
  return conclude(report, startedMs, `--gateways ${gateways} --rounds ${rounds}`);
}

/** True if nothing was lost, or if it cannot be tested here. */
async function takePower(): Promise<boolean> {
  const reason = whyNoDisk();
  if (reason === undefined) return killAgainAndAgain(true);
  say(reason);
  return true;
}

/** True if nothing was lost. */
async function killAgainAndAgain(power: boolean): Promise<boolean> {
  const times = power ? warnings : kills;
  say(`\n${power ? 'warnings of power' : 'kills'}, seed ${seed}`);
  const startedMs = performance.now();
  const loops = Math.min(LOOPS, times);
  const report = await killLoops(loops, { kills: times, seed, power, callers: 80, progress: say });
  return conclude(report, startedMs, `--${power ? 'power' : 'kills'} ${times}`);
}

/** True if other accounts were not affected. */
async function flood(): Promise<boolean> {
  say('\na member without a balance floods the gateway, while others make one call a second');
  const { violations, slow } = await floods(FLOOD_SECONDS, say);
  for (const line of slow) say(`slow: ${line}`);
  const counted = onlyFloods ? [...violations, ...slow] : violations;
  say(counted.length === 0 ? 'others were served' : `others noticed; ${counted.length} violations`);
  for (const violation of violations) process.stderr.write(`${violation}\n`);
  return counted.length === 0;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0 && text !== '') return number;
  process.stderr.write(`--${name} is a whole number, not "${text}"\n`);
  process.exit(2);
}

/** Prints the results of a run; `again`: the arguments that repeat it. True if nothing was lost. */
function conclude(report: ChaosReport | RoundsReport, startedMs: number, again: string): boolean {
  say(`\n${tableOf(report)}`);
  const seconds = (performance.now() - startedMs) / 1_000;
  const each = 'kills' in report ? `, ${(seconds / report.kills).toFixed(1)} s each` : '';
  say(`took ${Math.round(seconds)} s${each}; again with: npm run chaos -- ${again} --seed ${seed}`);
  for (const { kind, text } of report.violations.slice(0, 50)) process.stderr.write(`${kind}: ${text}\n`);
  return report.violations.length === 0;
}

type Counts<Report> = Partial<Omit<Report, 'violations'>>;

/** Events, then violations, without the rows that only the other kind of run has. */
function tableOf({ violations, calls, served, refused, recovered, ...events }: ChaosReport | RoundsReport): string {
  const { kills, complete, failed, aborted, cut, rounds, hurt }: Counts<ChaosReport> & Counts<RoundsReport> = events;
  const broken = (...kinds: readonly RoundsViolation['kind'][]): number =>
    violations.filter(({ kind }) => kinds.includes(kind)).length;
  const isCluster = rounds !== undefined;
  const rows: readonly (readonly [name: string, value: string | number | undefined])[] = [
    ['kills', kills],
    ['rounds', rounds],
    ['calls', calls],
    ['complete answers', complete],
    ['  served', served],
    ['  refused for quota', refused],
    ['  failed at the vendor', failed],
    ['  hurt by a fault', hurt],
    ['aborted by the client', aborted],
    ['cut by a kill or a vendor', cut],
    [isCluster ? 'calls of the dead recovered' : 'holds recovered', recovered.all],
    ['  with something delivered', recovered.charged],
    ['', ''],
    ['answers unbilled', broken('unbilled')],
    ['wrong amounts', broken('wrong amount')],
    ['doubles', broken('double')],
    ['charged above what was sent', broken('overcharged')],
    ['cut at healthy gateways', isCluster ? broken('cut') : undefined],
    ['refused in spite of quota', isCluster ? broken('refused') : undefined],
    [isCluster ? 'holds left' : 'holds left after a start', broken('hold left')],
    ['reconcile failures', broken('reconcile', 'ledger')],
    ['processes that complained', broken('process')],
  ];
  return rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(30)}${String(value).padStart(8)}`.trimEnd())
    .join('\n');
}
