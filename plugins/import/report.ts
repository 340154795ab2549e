/**
 * The report of an import: one screen of sums with what needs a decision, a file with every line, and the same as data. Names of the other gateway are
 * shown without characters that a terminal obeys.
 */
import { inQuota } from '../../core/contracts/ledger.ts';
import { table } from '../../core/sdk.ts';
import type { Inventory, Note } from './inventory.ts';
import type { Difference } from './list-prices.ts';
import type { ConfigChange } from './merge.ts';
import { visible } from './names.ts';
import type { Things } from './packed.ts';
import { type Proof, proofLine } from './prove.ts';
import type { SumGap, Sums } from './take-over/sums.ts';

/** One thing of the store that was, or would be, imported. */
export interface TakenThing {
  /** `department`, `account`, `key`, `code`, `subscription`, `order`. */
  readonly kind: string;
  /** Its name there. */
  readonly from: string;
  /** What it is here. */
  readonly to: string;
  /** `changed`: it was imported before, and is another there now. */
  readonly state: 'new' | 'changed' | 'unchanged';
  /** What has changed there: `balance 5 there, 3 here`. */
  readonly changes?: readonly string[] | undefined;
  /** The changes are here now. */
  readonly updated?: true | undefined;
}

/** What an import has found and done. */
export interface Findings {
  readonly program: string;
  /** What is known of its version: `set up with v0.6.3`. */
  readonly version?: string | undefined;
  /** The file or database, without a password. */
  readonly source: string;
  readonly atMs: number;
  readonly isDry: boolean;
  readonly inventory: Inventory;
  readonly taken: Things<TakenThing>;
  readonly left: readonly Note[];
  readonly handouts: readonly { readonly account: string; readonly what: string }[];
  /** What was imported of it; what was spent here since is not subtracted. */
  readonly sums?: Sums | undefined;
  /** Why they are others than there. */
  readonly gaps?: readonly SumGap[] | undefined;
  /** Days of usage that were added or replaced. */
  readonly days?: number;
  readonly proof?: Proof | undefined;
  readonly configuration: readonly ConfigChange[];
  /** The configuration was written: the version, or undefined if nothing had to be changed. */
  readonly applied?: { readonly version: number | undefined } | undefined;
  /** A line for each file. */
  readonly written: readonly string[];
  readonly differences: readonly Difference[];
}

/** One kind of thing: how many there, and what became of them. */
export interface Count {
  readonly kind: string;
  readonly there: number;
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** Things that are told together, because the same is true for them. */
export interface Group {
  readonly where: string;
  readonly why: string;
  readonly what: readonly string[];
  readonly count: number;
}

/** The report. Every text may be shown on a terminal, except those of `taken`. */
export interface Report extends Omit<Findings, 'inventory' | 'left'> {
  readonly counts: readonly Count[];
  readonly thereSums: Sums;
  readonly notes: Readonly<Record<Note['kind'], readonly Group[]>>;
}

/** Lines and columns of the screen. */
const LINES = 30;
const COLUMNS = 80;
/** Lines for decisions, at least. */
const LEAST_DECISIONS = 8;
/** Names that are told of equal notes. */
const NAMES = 3;

/** Puts the report together. */
export function reportOf(findings: Findings): Report {
  const { inventory, left, ...others } = shownAll(findings);
  const notes = [...inventory.notes, ...left];
  const notesOf = (kind: Note['kind']): readonly Group[] => grouped(notes.filter((note) => note.kind === kind));
  return {
    ...others,
    counts: countsOf(inventory, findings),
    thereSums: sumsOf(findings.inventory),
    notes: { decide: notesOf('decide'), changed: notesOf('changed'), left: notesOf('left') },
  };
}

function countsOf(inventory: Inventory, { taken, configuration }: Findings): readonly Count[] {
  const there = new Map<string, number>([
    ['department', inventory.departments.length],
    ['account', inventory.users.length],
    ['key', inventory.keys.length],
    ['code', inventory.codes.length],
    ['subscription', inventory.subscriptions.length],
    ['order', inventory.orders.length],
    ['group', inventory.groups.length],
    ['channel', inventory.channels.length],
    ['model', inventory.models.size],
    ['alias', inventory.aliases.size],
    ['price', [...inventory.models.values()].filter(({ price }) => price !== undefined).length],
  ]);
  const states = new Map<string, { new: number; changed: number; unchanged: number }>();
  const add = (kind: string, state: ConfigChange['state']): void => {
    const counted = states.get(kind) ?? { new: 0, changed: 0, unchanged: 0 };
    counted[state === 'differs' ? 'changed' : state]++;
    states.set(kind, counted);
  };
  for (const { kind, state } of taken) add(kind, state);
  for (const { kind, state } of configuration) add(kind, state);
  return [...new Set([...there.keys(), ...states.keys()])].flatMap((kind) => {
    const counted = states.get(kind) ?? { new: 0, changed: 0, unchanged: 0 };
    const sum = counted.new + counted.changed + counted.unchanged;
    const all = there.get(kind) ?? sum;
    return all + sum === 0 ? [] : [{ kind, there: all, ...counted }];
  });
}

function sumsOf({ users, keys }: Inventory): Sums {
  let [balances, debts, allowances] = [0n, 0n, 0n];
  for (const { balance = 0n } of users) {
    if (balance > 0n) balances += balance;
    else debts -= balance;
  }
  for (const { allowance = 0n } of keys) allowances += allowance;
  return { balances, debts, allowances };
}

/** Equal notes become one. */
function grouped(notes: readonly Note[]): readonly Group[] {
  const groups = new Map<string, { where: string; why: string; what: string[]; count: number }>();
  for (const { where, what, why, count = 1 } of notes) {
    const key = `${where}\n${why}`;
    const group = groups.get(key) ?? { where, why, what: [], count: 0 };
    group.what.push(what);
    group.count += count;
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** `new-api, set up with v0.6.3`. */
const programText = ({ program, version }: Report): string =>
  version === undefined ? program : `${program}, ${version}`;

/** How much of the recorded calls agrees, in one line. */
function agreementOf({ proof }: Report): string {
  if (proof === undefined) return 'recorded calls: not compared; --prove computes them again with the imported prices';
  if (proof.calls === 0) return proofLine(proof);
  const isRounded = proof.equal === proof.calls && proof.there !== proof.here;
  const why = isRounded ? '; each call is rounded there' : '';
  return `${proofLine(proof)} (charged ${inQuota(proof.there)} there, ${inQuota(proof.here)} here${why})`;
}

/** One screen: sums, decisions, and where the rest is. `file`: of the whole report. */
export function reportText(report: Report, file: string | undefined): string {
  const { counts, notes, written, handouts } = report;
  const head = [
    agreementOf(report),
    `read from ${programText(report)}`,
    '',
    ...table([
      ['WHAT', 'THERE', 'NEW', 'CHANGED', 'UNCHANGED', 'LEFT'],
      ...counts.map(({ kind, there, new: fresh, changed, unchanged }) => [
        plural(kind),
        ...[there, fresh, changed, unchanged, Math.max(there - fresh - changed - unchanged, 0)].map(String),
      ]),
    ]).split('\n'),
    '',
    ...sumLines(report),
  ];
  const left = notes.left.reduce((sum, { count }) => sum + count, 0);
  const tail = [
    ...(notes.changed.length > 0 ? [`here, but not as it was: ${countOf(notes.changed)}`] : []),
    ...(left > 0 ? [`not taken over: ${countOf(notes.left)}`] : []),
    ...(handouts.length > 0 ? [`to hand out to users: ${handouts.length} links or keys`] : []),
    ...configurationLine(report),
    ...written,
    ...(file === undefined ? [] : [`every line: ${file}`]),
    summary(report),
  ];
  const room = Math.max(LINES - head.length - tail.length - 2, LEAST_DECISIONS);
  return [...head, ...decisionLines(notes.decide, room), ...tail].join('\n');
}

const things = (count: number): string => `${count} ${count === 1 ? 'thing' : 'things'}`;

function countOf(groups: readonly Group[]): string {
  const sum = groups.reduce((all, { count }) => all + count, 0);
  return `${things(sum)} for ${groups.length} ${groups.length === 1 ? 'reason' : 'reasons'}`;
}

function sumLines({ thereSums, sums, gaps = [] }: Report): readonly string[] {
  const line = (name: string, sum: keyof Sums): readonly string[] => {
    const [there, here] = [thereSums[sum], sums?.[sum]];
    if (there === 0n && (here ?? 0n) === 0n) return [];
    return [
      `${name} ${inQuota(there)} there${here === undefined ? '' : `, ${inQuota(here)} here`}`,
      ...gaps.filter((gap) => gap.sum === sum).flatMap((gap) => wrapped(gapLine(gap), 2)),
    ];
  };
  return [
    ...line('balances:      ', 'balances'),
    ...line('debts:         ', 'debts'),
    ...line('limits of keys:', 'allowances'),
  ];
}

/** `500 less of ann, bob, carl and 2 more: not taken over`. */
function gapLine({ less, count, names, why }: SumGap): string {
  const amount = less === 0n ? 'as much' : less > 0n ? `${inQuota(less)} less` : `${inQuota(-less)} more`;
  const more = count - names.length;
  return `${amount} of ${names.map(visible).join(', ')}${more > 0 ? ` and ${more} more` : ''}: ${why}`;
}

/** What needs a decision, in at most so many lines. */
function decisionLines(groups: readonly Group[], room: number): readonly string[] {
  if (groups.length === 0) return [''];
  const lines = groups.map((group) => wrapped(groupLine(group, NAMES), 2));
  const shown: string[] = [];
  let told = 0;
  for (const each of lines) {
    if (shown.length + each.length > room - 2 && told > 0) break;
    shown.push(...each);
    told++;
  }
  const more = groups.length - told;
  return ['', 'To decide before the switch:', ...shown, ...(more > 0 ? [`  and ${more} more in the file`] : [])];
}

/** `configuration: saved as version 3; 1 thing with other values there, which --apply --update takes over`. */
function configurationLine({ applied, configuration, isDry }: Report): readonly string[] {
  const count = (wanted: ConfigChange['state']): number => configuration.filter(({ state }) => state === wanted).length;
  const [fresh, changed, differing] = [count('new'), count('changed'), count('differs')];
  const parts = [
    ...(applied === undefined
      ? []
      : [applied.version === undefined ? 'unchanged' : `saved as version ${applied.version}`]),
    ...(applied === undefined && fresh + changed > 0
      ? [`${things(fresh + changed)} to add or change${isDry ? '' : ', which --apply does'}`]
      : []),
    ...(differing > 0 ? [`${things(differing)} with other values there, which --apply --update takes over`] : []),
  ];
  return parts.length === 0 ? [] : [`configuration: ${parts.join('; ')}`];
}

/** `channel A, channel B, channel C and 41 more: there is no vendor for it`. */
function groupLine({ what, why, count }: Group, most: number): string {
  const names = what.slice(0, most).join(', ');
  const more = what.length - most;
  const sum = count === what.length ? '' : ` (${count})`;
  return `${names}${more > 0 ? ` and ${more} more` : ''}${sum}: ${why}`;
}

/** Breaks a line at spaces; further lines are indented. */
function wrapped(text: string, indent: number): readonly string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent);
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + word.length + 1 > COLUMNS) {
      lines.push(line);
      line = ' '.repeat(indent + 2);
    }
    line += line.trim() === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}

/** Every line: for a file, in pieces. */
export function* reportFile(report: Report): Generator<string> {
  const { source, atMs, taken, configuration, notes, differences, written, handouts, proof, isDry } = report;
  yield `import of ${programText(report)}; ${source}, ${new Date(atMs).toISOString()}\n\n${reportText(report, undefined)}\n`;
  if (proof !== undefined) {
    yield '\nRecorded calls (model, group, calls, equal, charged there, charged here):\n';
    for (const { model, group = '', calls, equal, there, here } of proof.rows)
      yield `  ${[model, group, calls, equal, inQuota(there), inQuota(here)].join('  ')}\n`;
    const { causes } = proof;
    yield* section(
      'Causes of differences',
      causes.map(({ cause, calls }) => `${calls}: ${cause}`),
    );
    if (proof.differences.length > 0) yield '\nThe first that differ:\n';
    for (const { id, model, there, here, cause } of proof.differences)
      yield `  ${id}  ${model}  ${inQuota(there)} there, ${inQuota(here)} here: ${cause}\n`;
  }
  yield* groupsOf('To decide before the switch', notes.decide);
  yield* groupsOf('Here, but not as it was', notes.changed);
  yield* groupsOf('Not taken over', notes.left);
  yield* section(
    'Different from the list prices',
    differences.map(({ model, text }) => `${model}: ${text}`),
  );
  yield* section(
    'gateway.yaml',
    configuration.map(({ kind, name, state, text }) =>
      [kind, name, configState(state, report), ...(text === '' ? [] : [text])].join('  '),
    ),
  );
  yield* section('Files', written);
  yield* section(
    'To hand out (the secrets are in the file of handouts)',
    handouts.map(({ account, what }) => `${account}: ${what}`),
  );
  if (taken.length > 0) yield '\nUsers, keys and what they hold (what, there, here, state):\n';
  for (const { kind, from, to, state, changes = [], updated } of taken) {
    const words = isDry && state === 'new' ? 'would be new' : state === 'changed' && !updated ? 'changed there' : state;
    yield `${visible([kind, from, to, words, ...(changes.length > 0 ? [changes.join('; ')] : [])].join('  '))}\n`;
  }
}

function* groupsOf(title: string, groups: readonly Group[]): Generator<string> {
  if (groups.length === 0) return;
  yield `\n${title}:\n`;
  for (const where of new Set(groups.map((group) => group.where))) {
    const those = groups.filter((group) => group.where === where);
    yield `  ${where} (${those.reduce((sum, { count }) => sum + count, 0)}):\n`;
    for (const group of those) yield `    ${groupLine(group, Number.POSITIVE_INFINITY)}\n`;
  }
}

function* section(title: string, lines: readonly string[]): Generator<string> {
  if (lines.length === 0) return;
  yield `\n${title}:\n`;
  for (const line of lines) yield `  ${line}\n`;
}

function configState(state: ConfigChange['state'], { applied }: Report): string {
  if (state === 'differs') return 'differs, stays as it is here';
  if (state === 'unchanged' || applied !== undefined) return state;
  return state === 'new' ? 'to be added' : 'to be changed';
}

function plural(kind: string): string {
  if (kind === 'alias') return 'aliases';
  if (kind === 'section') return 'settings';
  return kind === 'code' ? 'redemption codes' : `${kind}s`;
}

/** The last line: `12 new, 3 unchanged, 4 left`. */
function summary({ taken, notes, isDry, days = 0, applied }: Report): string {
  const counts = { new: 0, changed: 0, unchanged: 0 };
  let updated = 0;
  for (const { state, updated: isUpdated } of taken) {
    counts[state]++;
    if (isUpdated) updated++;
  }
  const { changed } = counts;
  const left = notes.left.reduce((sum, { what }) => sum + what.length, 0);
  const rest = [
    ...(changed > 0 ? [`${changed} changed there${updated > 0 && !isDry ? ` (${updated} updated here)` : ''}`] : []),
    ...(days > 0 ? [`usage of ${days} ${days === 1 ? 'day' : 'days'}`] : []),
    `${counts.unchanged} unchanged`,
    `${left} left`,
  ].join(', ');
  if (isDry) return `dry run, nothing was changed: ${counts.new} would be new, ${rest}`;
  const isSame = counts.new + updated + days === 0 && applied?.version === undefined;
  return isSame ? `nothing was changed: ${rest}` : `${counts.new} new, ${rest}`;
}

/** The same as data, for `--json` and `/api`: amounts in quota units, times in seconds. `hasThings`: with single users, keys and what they hold. */
export function reportJson(report: Report, hasThings = true): object {
  const { program, version, source, atMs, isDry, counts, thereSums, sums, proof, notes, applied } = report;
  const quota = (micro: bigint): number => Number(inQuota(micro));
  const amounts = (of: Sums) => ({
    balances: quota(of.balances),
    debts: quota(of.debts),
    key_limits: quota(of.allowances),
  });
  return {
    program,
    version: version ?? null,
    source,
    at: Math.floor(atMs / 1_000),
    dry_run: isDry,
    summary: summary(report),
    proof:
      proof === undefined
        ? null
        : {
            calls: proof.calls,
            equal: proof.equal,
            there: quota(proof.there),
            here: quota(proof.here),
            models: proof.rows.map(({ model, group, calls, equal, there, here }) => ({
              model,
              group: group ?? null,
              calls,
              equal,
              there: quota(there),
              here: quota(here),
            })),
            causes: proof.causes,
            differences: proof.differences.map(({ id, model, there, here, cause }) => ({
              id,
              model,
              there: quota(there),
              here: quota(here),
              cause,
            })),
          },
    counts: counts.map(({ kind, there, new: fresh, changed, unchanged }) => ({
      kind,
      there,
      new: fresh,
      changed,
      unchanged,
      left: Math.max(there - fresh - changed - unchanged, 0),
    })),
    sums: { there: amounts(thereSums), here: sums === undefined ? null : amounts(sums) },
    decide: notes.decide,
    changed: notes.changed,
    left: notes.left,
    things: [...(hasThings ? report.taken : [])].map(({ kind, from, to, state, changes = [], updated = false }) => ({
      kind,
      from: visible(from),
      to: visible(to),
      state,
      changes: changes.map(visible),
      updated,
    })),
    configuration: {
      applied: applied !== undefined,
      version: applied?.version ?? null,
      changes: report.configuration,
    },
    price_differences: report.differences,
    handouts: report.handouts,
    files: report.written,
  };
}

/** The same with every text made visible, except those of single things, of which there may be very many: they are when they are written. */
function shownAll(findings: Findings): Findings {
  const note = (each: Note): Note => ({
    ...each,
    where: visible(each.where),
    what: visible(each.what),
    why: visible(each.why),
  });
  const { inventory, left, handouts, configuration, written, differences, proof } = findings;
  return {
    ...findings,
    source: visible(findings.source),
    ...(findings.version !== undefined && { version: visible(findings.version) }),
    inventory: { ...inventory, notes: inventory.notes.map(note) },
    left: left.map(note),
    handouts: handouts.map(({ account, what }) => ({ account: visible(account), what: visible(what) })),
    configuration: configuration.map((each) => ({ ...each, name: visible(each.name), text: visible(each.text) })),
    written: written.map(visible),
    differences: differences.map(({ model, text }) => ({ model: visible(model), text: visible(text) })),
    ...(proof !== undefined && {
      proof: {
        ...proof,
        rows: proof.rows.map((row) => ({
          ...row,
          model: visible(row.model),
          ...(row.group && { group: visible(row.group) }),
        })),
        causes: proof.causes.map(({ cause, calls }) => ({ cause: visible(cause), calls })),
        differences: proof.differences.map((each) => ({
          ...each,
          id: visible(each.id),
          model: visible(each.model),
          cause: visible(each.cause),
        })),
      },
    }),
  };
}
