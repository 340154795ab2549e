/**
 * Computes the recorded calls of another gateway again with what was imported. A call costs the same if both amounts differ by at most one unit of the
 * source (a quota unit of one-api, new-api and one-hub), because those programs round each call to whole units, up, down or to the nearest, in
 * binary fractions.
 */

import { RATE_NAMES } from '../../core/contracts/formats/rates.ts';
import type { Usage } from '../../core/contracts/formats/usage.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type ModelPrice, Prices, productOfFactors } from '../../core/contracts/prices.ts';
import type { Host } from '../../core/plugin.ts';
import { type Decimal, decimalText } from '../../core/sdk.ts';
import { NO_TOKENS } from '../../core/translation/index.ts';
import type { ForeignPrice, ForeignUsage, Inventory, Source } from './inventory.ts';

/** Calls of one model and group. Amounts are micro-quota. */
export interface ProofRow {
  readonly model: string;
  readonly group: string | undefined;
  readonly calls: number;
  readonly equal: number;
  /** Charged there, and computed here. */
  readonly there: bigint;
  readonly here: bigint;
}

/** A call that costs something else here. */
export interface ProofDifference {
  readonly id: string;
  readonly model: string;
  readonly there: bigint;
  readonly here: bigint;
  /** In words. */
  readonly cause: string;
}

/** What was compared. */
export interface Proof {
  readonly calls: number;
  /** Below `calls`: the exit code is 1. */
  readonly equal: number;
  readonly there: bigint;
  readonly here: bigint;
  /** The most calls first. */
  readonly rows: readonly ProofRow[];
  /** The newest of them. */
  readonly differences: readonly ProofDifference[];
  /** How many calls differ because of what, the most first. */
  readonly causes: readonly { readonly cause: string; readonly calls: number }[];
}

/** Differences that are listed. */
const LISTED = 20;

/** Kinds of causes, as the first line counts them. */
const CAUSES = {
  unknown: 'cannot be computed',
  missing: 'of models that are not here',
  unpriced: 'of models without a price here',
  group: 'of a group that is not here',
  factor: 'group factor changed since',
  tools: 'uses of tools are charged otherwise',
  price: 'price changed since, or differs by channel',
  none: 'without a known cause',
} as const;
type Cause = keyof typeof CAUSES;

type Cost = (usage: Usage, factor?: Decimal) => bigint;

/** Computes the newest calls of the source again, at most so many. Writes nothing, so it works in a dry run. */
export async function prove(
  host: Pick<Host, 'use'>,
  inventory: Inventory,
  source: Pick<Source, 'usage'>,
  most = 10_000,
): Promise<Proof> {
  const costs = costsOf(host, inventory);
  const rows = new Map<string, { -readonly [M in keyof ProofRow]: ProofRow[M] }>();
  const causes = new Map<Cause, number>();
  const differences: ProofDifference[] = [];
  for await (const usage of source.usage(most)) {
    const { here, cause, words } = computed(usage, costs, inventory);
    const key = JSON.stringify([usage.model, usage.group]);
    const row = rows.get(key) ?? { model: usage.model, group: usage.group, calls: 0, equal: 0, there: 0n, here: 0n };
    rows.set(key, row);
    row.calls++;
    row.there += usage.charged;
    row.here += here;
    if (cause === undefined) {
      row.equal++;
      continue;
    }
    causes.set(cause, (causes.get(cause) ?? 0) + 1);
    if (differences.length < LISTED) {
      differences.push({ id: usage.id, model: usage.model, there: usage.charged, here, cause: words });
    }
  }
  const all = [...rows.values()].sort((a, b) => b.calls - a.calls);
  return {
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    equal: all.reduce((sum, { equal }) => sum + equal, 0),
    there: all.reduce((sum, { there }) => sum + there, 0n),
    here: all.reduce((sum, { here }) => sum + here, 0n),
    rows: all,
    differences,
    causes: [...causes].sort(([, a], [, b]) => b - a).map(([cause, calls]) => ({ cause: CAUSES[cause], calls })),
  };
}

interface Computed {
  readonly here: bigint;
  /** Undefined: it costs the same. */
  readonly cause?: Cause;
  readonly words: string;
}

function computed(usage: ForeignUsage, costs: ReturnType<typeof costsOf>, inventory: Inventory): Computed {
  const found = costs(usage.model);
  const factor = factorOf(usage, inventory);
  const spent = usageOf(usage);
  // Without usage, nothing was delivered, and nothing is charged here.
  const isEmpty = usage.unknown === undefined && usage.charged === 0n && isUnused(spent);
  const here = isEmpty || found.cost === undefined ? 0n : found.cost(spent, factor.of);
  const difference = here - usage.charged;
  const unit = usage.unit ?? MICRO;
  if (usage.unknown === undefined && difference <= unit && -difference <= unit) return { here, words: '' };

  const says = usage.rates === undefined ? '' : `; the row says: ${usage.rates}`;
  if (usage.unknown !== undefined) return { here, cause: 'unknown', words: `cannot be computed: ${usage.unknown}` };
  if (found.cost === undefined) {
    return {
      here,
      cause: found.isHere ? 'unpriced' : 'missing',
      words: found.isHere ? `the model has no price here${says}` : `the model is not here${says}`,
    };
  }
  const isFactor = usage.says?.factor(Number(factorText(factor.of))) ?? true;
  const isPrice = found.price === undefined || (usage.says?.price(found.price) ?? true);
  if (!isPrice)
    return {
      here,
      cause: 'price',
      words: `its price changed since, or differs by channel${says}; here: ${JSON.stringify(found.price)}`,
    };
  if (!factor.isKnown) return { here, cause: 'group', words: `the group ${usage.group} is not here${says}` };
  if (!isFactor)
    return {
      here,
      cause: 'factor',
      words: `the factor of the group ${usage.group} changed since${says}; here: ${factorText(factor.of)}`,
    };
  if (usage.units?.uses !== undefined)
    return {
      here,
      cause: 'tools',
      words: `uses of tools are charged otherwise: ${JSON.stringify(usage.units.uses)}${says}`,
    };
  return {
    here,
    cause: 'none',
    words: `no cause is known${says}; here: ${JSON.stringify(found.price)}, factor ${factorText(factor.of)}`,
  };
}

const factorText = (factor: Decimal | undefined): string => (factor === undefined ? '1' : decimalText(factor));

/** The factor of a call's group. */
function factorOf(
  { group, userGroup }: ForeignUsage,
  { groups }: Pick<Inventory, 'groups'>,
): { readonly of: Decimal | undefined; readonly isKnown: boolean } {
  if (group === undefined) return { of: undefined, isKnown: true };
  const found = groups.find(({ name }) => name === group);
  if (found !== undefined) {
    return { of: productOfFactors([found.factors?.get(userGroup ?? '') ?? found.factor]), isKnown: true };
  }
  return { of: undefined, isKnown: groups.length === 0 };
}

function usageOf({ tokens, units = {} }: ForeignUsage): Usage {
  const { images, size = '', quality = '', ...others } = units;
  return {
    ...NO_TOKENS,
    ...tokens,
    ...others,
    ...(images !== undefined && { images: { count: images, size, quality } }),
  };
}

function isUnused({ input, output, images, characters, seconds, uses }: Usage): boolean {
  return input + output + (images?.count ?? 0) + (characters ?? 0) + (seconds ?? 0) === 0 && uses === undefined;
}

/** The costs of each model, as the imported configuration would charge them. */
function costsOf(host: Pick<Host, 'use'>, { models, aliases, channels }: Inventory) {
  const prices = host.use(Prices);
  const { perUnit } = host.use(Ledger);
  const byName = new Map(channels.map((channel) => [channel.name, channel]));
  type Found = {
    readonly isHere: boolean;
    readonly price?: ForeignPrice | undefined;
    readonly cost?: Cost | undefined;
  };
  const known = new Map<string, Found>();

  function find(name: string): Found {
    const model = models.get(name) ?? models.get(aliases.get(name) ?? '');
    if (model === undefined) return { isHere: false };
    if (model.free) return { isHere: true, cost: () => 0n };
    if (model.price !== undefined) {
      return { isHere: true, price: model.price, cost: prices.costsAt(asWritten(model.price), perUnit) };
    }
    const first = model.from[0];
    const channel = first && byName.get(first.channel);
    const list = channel && prices.published({ vendor: channel.vendor, url: channel.url ?? '', model: first.model });
    return { isHere: true, cost: list && prices.costsAt(asWritten(listed(list)), perUnit) };
  }

  return (name: string): Found => {
    const found = known.get(name) ?? find(name);
    known.set(name, found);
    return found;
  };
}

function listed(list: ModelPrice): ForeignPrice {
  const fields = [...RATE_NAMES, 'perImage', 'characters', 'perRequest'] as const;
  return Object.fromEntries(fields.flatMap((field) => (list[field] === undefined ? [] : [[field, list[field]]])));
}

/** The price as gateway.yaml has it: with numbers. */
function asWritten(value: string | ForeignPrice | readonly ForeignPrice[]): unknown {
  if (typeof value === 'string') return Number(value);
  if (Array.isArray(value)) return value.map(asWritten);
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, asWritten(each)]));
}

const countText = (count: number | bigint): string => count.toLocaleString('en-US');

/** The proof in one line. */
export function proofLine({ calls, equal, causes }: Proof): string {
  if (calls === 0) return 'The source has no recorded calls to prove prices with';
  const line = `${countText(equal)} of ${countText(calls)} recorded calls cost the same here, to the unit`;
  if (equal === calls) return line;
  const each = causes.map((cause) => `${countText(cause.calls)} ${cause.cause}`);
  return `${line}; ${countText(calls - equal)} differ: ${each.join(', ')}`;
}
