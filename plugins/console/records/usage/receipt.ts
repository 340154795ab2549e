/** The receipt of a call in the API: how its charge was computed, and which buckets it was debited from. */

import { Departments } from '../../../../core/contracts/departments.ts';
import { RATE_NAMES, RATES, type Rate, UNITS } from '../../../../core/contracts/formats/rates.ts';
import { modelInKind } from '../../../../core/contracts/key-budgets.ts';
import { type Entry, Ledger, type Receipt, type ReceiptItem } from '../../../../core/contracts/ledger.ts';
import type { UsageRecord } from '../../../../core/contracts/records.ts';
import { Subscriptions } from '../../../../core/contracts/subscriptions.ts';
import type { Host } from '../../../../core/plugin.ts';
import { boolean, integer, listOf, number, object, text } from '../../format/schemas.ts';
import { exactUnits } from '../../format/units.ts';
import type { Names } from '../people/names.ts';

/** The names of billed units in receipts. */
const BUCKETS: readonly string[] = [...RATE_NAMES.map((rate) => RATES[rate].wire), ...Object.keys(UNITS)];
const bucketName = (bucket: ReceiptItem['bucket']): string => (bucket in UNITS ? bucket : RATES[bucket as Rate].wire);
const ROUNDING =
  'The items are added up, multiplied by the factor and rounded up, once, to a millionth of a quota unit.';

/** The receipt of a call; null if the gateway runs without billing. */
export function shownReceipt(host: Host, call: UsageRecord) {
  const receipt = host.find(Ledger)?.receipt(call);
  return receipt === undefined ? null : shown(receipt, call);
}

function shown(receipt: Receipt, { included }: UsageRecord) {
  const { exact, items, factor, perUnit, total, charged, held, cappedBy, reason } = receipt;
  return {
    exact,
    items: items.map(({ bucket, name, ...item }) => ({ bucket: bucketName(bucket), name: name ?? null, ...item })),
    factor,
    quota_per_unit: perUnit ?? null,
    rounding: ROUNDING,
    total: exactUnits(total),
    held: held === undefined ? null : exactUnits(held),
    charged: exactUnits(charged),
    capped_by: cappedBy ?? null,
    reason: reason ?? null,
    included: included === true,
  };
}

/** The ledger entries of the call, one for each bucket. */
export async function shownEntries(host: Host, call: UsageRecord, names: Names) {
  const ledger = host.find(Ledger);
  if (ledger === undefined) return [];
  const { held } = ledger.receipt(call);
  return Promise.all(
    ledger.debitsOf(call).map(async (entry) => {
      const { ref, op, kind, owner, windowStart, amount, atMs, actor } = entry;
      const isDebit = op === 'debit' && held !== undefined;
      return {
        op,
        kind: kind.split(' ')[0]!,
        owner_id: owner,
        owner_name: await ownerOf(host, entry, call, names),
        window_start_ms: windowStart ?? null,
        hold: isDebit ? exactUnits(held) : null,
        amount: exactUnits(amount),
        release: isDebit ? exactUnits(held - amount) : null,
        at_ms: atMs,
        ref,
        actor,
      };
    }),
  );
}

/** The owner of a bucket. Users see only their own calls, which are debited from buckets they know. */
async function ownerOf(host: Host, { kind, owner }: Entry, { accountId }: UsageRecord, names: Names) {
  switch (kind) {
    case 'account':
    case 'debt':
      return (await names.person(owner))?.name ?? null;
    case 'key':
      return names.key(owner);
    case 'department':
    case 'department-month':
      return host.find(Departments)?.get(owner)?.name ?? null;
    case 'day':
    case 'week':
    case 'month': {
      const subscription = await host.find(Subscriptions)?.of(accountId);
      return subscription?.id === owner ? subscription.plan : null;
    }
    default: {
      // A budget of the key.
      const [name, model] = [await names.key(owner), modelInKind(kind)];
      return model === undefined || name === null ? name : `${name} (${model})`;
    }
  }
}

const amount = { ...text, description: 'Quota units, a decimal number.' } as const;
const maybe = (type: 'string' | 'integer' | 'number', description: string) => ({ type: [type, 'null'], description });

export const receiptSchema = {
  title: 'Receipt',
  ...object({
    exact: {
      ...boolean,
      description: 'The charge can be explained exactly. False: too little was recorded, for the `reason` given.',
    },
    items: {
      ...listOf('ReceiptItem', {
        bucket: { enum: BUCKETS },
        name: { type: ['string', 'null'], description: "For uses: the vendor's tool (`web_search`)." },
        count: number,
        price: { ...text, description: 'Currency units per `per` units, a decimal number.' },
        per: { enum: [1_000_000, 3_600, 1] },
        unit: { enum: ['token', 'image', 'second', 'character', 'use', 'request'] },
        quota: { ...text, description: 'Quota units before the factor, a decimal number, not rounded.' },
      }),
      description: 'The billed items; every token is in one item.',
    },
    factor: { ...text, description: 'The price factor of the department, a decimal number.' },
    quota_per_unit: maybe('number', 'Quota units in a currency unit at that time; null: no price applied.'),
    rounding: { ...text, description: 'How the items are added up.' },
    total: amount,
    held: maybe('string', 'The final reservation in quota units; null: not recorded.'),
    charged: amount,
    capped_by: {
      enum: ['hold', 'delivery', null],
      description:
        'hold: the charge was limited to the reservation, which could not be raised. delivery: the answer broke off, and the delivered part was charged.',
    },
    reason: {
      enum: ['refused', 'failed', 'unused', 'free', 'unpriced', 'recovered', 'not_noted', null],
      description:
        'Why the call was free, or why the charge cannot be explained (recovered: the gateway stopped during the call; not_noted: recorded by an older release).',
    },
    included: { ...boolean, description: 'A subscription included the call; the balance paid nothing.' },
  }),
  type: ['object', 'null'],
} as const;

export const entriesSchema = {
  ...listOf('LedgerEntry', {
    op: { enum: ['debit', 'credit', 'refund', 'adjust'] },
    kind: {
      enum: [
        ...['account', 'key', 'key-day', 'key-week', 'key-month'],
        ...['department', 'department-month', 'day', 'week', 'month', 'debt'],
      ],
    },
    owner_id: {
      ...integer,
      description: 'The id of the account, key or department; for day, week and month of the subscription.',
    },
    owner_name: maybe('string', 'For a subscription its plan, if it is still the current one.'),
    window_start_ms: maybe('integer', 'Start of the window, Unix milliseconds; null: no window.'),
    hold: maybe('string', 'The reservation in quota units; null: not recorded.'),
    amount,
    release: maybe('string', 'The released part of the reservation.'),
    at_ms: integer,
    ref: { ...text, description: 'The `request_id`.' },
    actor: { ...text, description: '`call`; `recovery`: settled after a restart of the gateway.' },
  }),
  description: 'The ledger entries of the call, one for each bucket; empty if it cost nothing.',
} as const;
