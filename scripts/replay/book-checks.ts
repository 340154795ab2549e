/** Checks the usage records of served answers: the recorded tokens, and their price. */
import type { Served } from './answer-checks.ts';
import type { Finding } from './verdicts.ts';
import { PRICE, type UsageRecord, type World } from './world.ts';

/** Checks the record of every served answer, and the ledger with the gateway's own command. */
export async function checkBooks(world: World, served: readonly Served[]): Promise<readonly Finding[]> {
  const records = world.records();
  const findings = served.flatMap((one): Finding[] => {
    const { recorded, client, id } = one;
    const record = records.get(id);
    const faults = record === undefined ? ['no usage record'] : recordFaults(one, record);
    const common = { what: `${recorded.file}:${recorded.id}`, client, vendor: recorded.style, check: 'books' } as const;
    if (faults.length === 0) return [{ ...common, result: 'ok', detail: '' }];
    return faults.map((detail) => ({ ...common, result: 'failed', detail }));
  });
  const broken = await world.reconcile();
  const [any] = served;
  if (broken === undefined || any === undefined) return findings;
  const { client, recorded } = any;
  return [
    ...findings,
    { what: 'reconcile', client, vendor: recorded.style, check: 'books', result: 'failed', detail: broken },
  ];
}

function recordFaults({ usage }: Served, record: UsageRecord): string[] {
  if (usage === undefined)
    return record.estimated ? [] : ['the vendor reported no usage, and the record is not marked as estimated'];
  if (record.estimated) return ['the usage is an estimate although the vendor reported it'];
  const faults = (['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const).flatMap((name) => {
    const expected = usage[name] ?? 0;
    return expected === record[name] ? [] : [`${name} tokens ${expected} were recorded as ${record[name]}`];
  });
  const price = priceOf(record);
  if (record.charged !== price) faults.push(`charged ${record.charged} for a price of ${price}`);
  return faults;
}

/** Micro-quota per token at a price of one currency unit per million tokens. */
const UNIT = 500_000;

function priceOf({ input, cacheRead, cacheWrite, output, reasoning }: UsageRecord): number {
  const units =
    (input - cacheRead - cacheWrite) * PRICE.input +
    cacheRead * PRICE.cacheRead +
    cacheWrite * PRICE.cacheWrite +
    (output - reasoning) * PRICE.output +
    reasoning * PRICE.reasoning;
  return Math.ceil(units * UNIT);
}
