/**
 * `npm run chaos [-- --kills N --seed N]`: kills the gateway under load again and again, and counts what was lost; then floods it.
 * With `--floods` it only does that, and the time that others waited counts as well.
 */
import { parseArgs } from 'node:util';
import type { Kind } from './chaos/books.ts';
import { floods } from './chaos/floods.ts';
import { type ChaosReport, killLoop } from './chaos/loop.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    floods: { type: 'boolean', default: false },
  },
});
const kills = wholeNumber('kills', values.kills);
const seed = wholeNumber('seed', values.seed);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** How long each flood lasts. */
const FLOOD_SECONDS = 10;

const killed = values.floods ? true : await killAgainAndAgain();
const flooded = await flood();
process.exitCode = killed && flooded ? 0 : 1;

/** True where nothing was lost. */
async function killAgainAndAgain(): Promise<boolean> {
  say(`seed ${seed}`);
  const startedMs = performance.now();
  const report = await killLoop({ kills, seed, callers: 80, progress: say });
  say(`\n${tableOf(report)}`);
  say(
    `took ${Math.round((performance.now() - startedMs) / 1_000)} s; again with: npm run chaos -- --kills ${kills} --seed ${seed}`,
  );
  for (const { kind, text } of report.violations.slice(0, 50)) process.stderr.write(`${kind}: ${text}\n`);
  return report.violations.length === 0;
}

/** True where others did not notice. */
async function flood(): Promise<boolean> {
  say('\na member without a balance floods the gateway, beside a call a second of others');
  const { violations, slow } = await floods(FLOOD_SECONDS, say);
  for (const line of slow) say(`slow: ${line}`);
  const counted = values.floods ? [...violations, ...slow] : violations;
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

/** What happened, then what must not happen. */
function tableOf(report: ChaosReport): string {
  const broken = (...kinds: readonly Kind[]): number =>
    report.violations.filter(({ kind }) => kinds.includes(kind)).length;
  const rows: readonly (readonly [string, string | number])[] = [
    ['kills', report.kills],
    ['calls', report.calls],
    ['complete answers', report.complete],
    ['  served', report.served],
    ['  refused for quota', report.refused],
    ['  failed at the vendor', report.failed],
    ['aborted by the client', report.aborted],
    ['cut by a kill or a vendor', report.cut],
    ['holds recovered', report.recovered.all],
    ['  with something delivered', report.recovered.charged],
    ['', ''],
    ['answers unbilled', broken('unbilled')],
    ['wrong amounts', broken('wrong amount')],
    ['doubles', broken('double')],
    ['charged above what was sent', broken('overcharged')],
    ['holds left after a start', broken('hold left')],
    ['reconcile failures', broken('reconcile', 'ledger')],
    ['processes that complained', broken('process')],
  ];
  return rows.map(([name, value]) => `${name.padEnd(30)}${String(value).padStart(8)}`.trimEnd()).join('\n');
}
