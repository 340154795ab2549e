/** How the charge of a call came about, and what it moved in the books, as `/api` shows it. */
import { Departments } from '../../../core/contracts/departments.ts';
import { type Entry, Ledger, type Receipt, type ReceiptItem } from '../../../core/contracts/ledger.ts';
import { RATE_NAMES, RATES, type Rate, UNITS } from '../../../core/contracts/rates.ts';
import type { UsageRecord } from '../../../core/contracts/records.ts';
import { Subscriptions } from '../../../core/contracts/subscriptions.ts';
import type { Host } from '../../../core/plugin.ts';
import { boolean, integer, named, number, object, text } from '../schemas.ts';
import { exactUnits } from '../units.ts';
import type { Names } from './names.ts';

/** The names of what is charged for, in receipts. */
const BUCKETS: readonly string[] = [...RATE_NAMES.map((rate) => RATES[rate].wire), ...Object.keys(UNITS)];
const bucketName = (bucket: ReceiptItem['bucket']): string => (bucket in UNITS ? bucket : RATES[bucket as Rate].wire);
const ROUNDING =
  'The items are added up, multiplied by the factor and rounded up, once, to a millionth of a quota unit.';

/** The receipt of a call; null where nobody keeps books. */
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

/** What the call moved: in every layer that it was taken from. */
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
        kind,
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

/** Whose layer it is. People see it of their own calls only, which are taken from nothing that they do not know. */
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
  }
}

const amount = { ...text, description: 'Quota units, a decimal number.' } as const;
const maybe = (type: 'string' | 'integer' | 'number', description: string) => ({ type: [type, 'null'], description });

/** Its schema. */
export const receiptSchema = {
  title: 'Receipt',
  ...object({
    exact: {
      ...boolean,
      description: 'The charge is told to the last place. False: too little was written down, and `reason` says why.',
    },
    items: {
      type: 'array',
      description: 'What was charged for; every token is in one item.',
      items: named(
        'ReceiptItem',
        object({
          bucket: { enum: BUCKETS },
          name: { type: ['string', 'null'], description: 'Of a use: which tool of the vendor it was (`web_search`).' },
          count: number,
          price: { ...text, description: 'Currency units for `per` of them, a decimal number.' },
          per: { enum: [1_000_000, 3_600, 1] },
          unit: { enum: ['token', 'image', 'second', 'character', 'use', 'request'] },
          quota: { ...text, description: 'Quota units before the factor, a decimal number, not rounded.' },
        }),
      ),
    },
    factor: { ...text, description: 'What part of the price the department pays, a decimal number.' },
    quota_per_unit: maybe('number', 'Quota units in a currency unit at that time; null: nothing was priced.'),
    rounding: { ...text, description: 'How the items become the total, for people.' },
    total: amount,
    held: maybe('string', 'What was set aside for it in the end; null: that was not written down.'),
    charged: amount,
    capped_by: {
      enum: ['hold', 'delivery', null],
      description:
        'hold: no more than that was set aside, nor could be. delivery: the answer broke off, and what had gone out was charged.',
    },
    reason: {
      enum: ['refused', 'failed', 'unused', 'free', 'unpriced', 'recovered', 'not_noted', null],
      description:
        'Why nothing was charged, or (recovered: the gateway stopped during the call; not_noted: an older release) why it cannot be retold.',
    },
    included: { ...boolean, description: 'A subscription included it: the balance paid nothing.' },
  }),
  type: ['object', 'null'],
} as const;

/** Its schema. */
export const entriesSchema = {
  type: 'array',
  description: 'What the call moved in the books, in every layer that it was taken from; none where it cost nothing.',
  items: named(
    'LedgerEntry',
    object({
      op: { enum: ['debit', 'credit', 'refund', 'adjust'] },
      kind: { enum: ['account', 'key', 'department', 'department-month', 'day', 'week', 'month', 'debt'] },
      owner_id: {
        ...integer,
        description: 'Of an account, key or department; of day, week and month the subscription.',
      },
      owner_name: maybe('string', 'Of a subscription the plan, while it is the current one.'),
      window_start_ms: maybe('integer', 'When the window began; null: it has none.'),
      hold: maybe('string', 'What was set aside, in quota units; null: that was not written down.'),
      amount,
      release: maybe('string', 'What was set free of the hold.'),
      at_ms: integer,
      ref: { ...text, description: 'The `request_id`.' },
      actor: { ...text, description: '`call`; `recovery`: what was closed after the gateway had stopped.' },
    }),
  ),
} as const;
