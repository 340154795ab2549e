/**
 * `npm run replay -- DIR [--only WORD] [--style CLIENT] [--vendor STYLE] [--seed N] [--verbose]`: plays recorded vendor
 * traffic through a gateway to clients of every style, and reports differences.
 */
import { parseArgs } from 'node:util';
import { CLIENT_STYLES, type ClientStyle } from './replay/client.ts';
import { type Folder, readFolder, type VendorStyle } from './replay/folder.ts';
import { replay } from './replay/run.ts';
import { causesOf, lineOf, tableOf } from './replay/verdicts.ts';

const VENDORS: readonly VendorStyle[] = [...CLIENT_STYLES, 'gemini'];
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    style: { type: 'string' },
    vendor: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    verbose: { type: 'boolean', default: false },
  },
});
const [dir] = positionals;
if (dir === undefined || positionals.length > 1) wrong('one folder of recordings is needed: npm run replay -- DIR');
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed) || seed < 0) wrong(`--seed is a whole number, not "${values.seed}"`);
const clients = chosen<ClientStyle>('style', values.style, CLIENT_STYLES);
const vendors = chosen<VendorStyle>('vendor', values.vendor, VENDORS);

const startedMs = performance.now();
const { exchanges, skipped } = read(dir);
const { only = '' } = values;
const selected = exchanges.filter(({ file, id }) => `${file}:${id}`.includes(only));
say(`${selected.length} exchanges, ${skipped.length} lines skipped; seed ${seed}`);
for (const [reason, count] of countsOf(skipped.map((line) => line.reason))) say(`  skipped: ${count} x ${reason}`);
if (selected.length === 0) wrong(`there is nothing to play in ${dir}`);
if (values.verbose) for (const { file, id, reason } of skipped) say(`  skipped ${file}:${id}: ${reason}`);

const verdicts = await replay({
  exchanges: selected,
  clients,
  vendors,
  seed,
  progress: (done, of) => {
    if (process.stderr.isTTY) process.stderr.write(`${done} of ${of}\n`);
  },
});
const failed = verdicts.filter(({ result }) => result === 'failed');
const refused = verdicts.filter(({ result }) => result === 'refused');

for (const verdict of failed) say(lineOf(verdict));
if (values.verbose) for (const verdict of refused) say(`refused: ${lineOf(verdict)}`);
if (failed.length > 0) say(`\nWhat failed, by cause:\n${causesOf(failed).join('\n')}`);
if (values.verbose && refused.length > 0) say(`\nWhat was refused, by cause:\n${causesOf(refused).join('\n')}`);
say(`\nok/refused/failed\n${tableOf(verdicts)}`);
say(
  `\n${failed.length === 0 ? 'all well' : `${failed.length} failed`}; took ${Math.round((performance.now() - startedMs) / 1_000)} s`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

function read(folder: string): Folder {
  try {
    return readFolder(folder);
  } catch (error) {
    return wrong(`${folder} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The selected one; all by default. */
function chosen<T extends string>(name: string, word: string | undefined, all: readonly T[]): readonly T[] {
  if (word === undefined) return all;
  const found = all.find((each) => each === word);
  return found === undefined ? wrong(`--${name} is one of ${all.join(', ')}, not "${word}"`) : [found];
}

function countsOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function wrong(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
