/** The ledger: the statements that hold, charge and credit amounts, each list all or none. Amounts are micro-quota. */
import { type Balance, type Layer, type Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type Clock, type Exchange, GatewayError, refuse, type Step, type Store } from '../../core/plugin.ts';
import { LARGEST_GRANT } from './tables.ts';

/** Who a call is taken from. */
export interface Payer {
  readonly accountId: number;
  readonly keyId: number;
}

/** A reservation: set aside before the call goes out, until it is known what was used. */
export interface Hold extends Payer {
  /** The exchange's id. */
  readonly id: string;
  /** Above zero. */
  readonly amount: bigint;
  /** The run of the gateway that made it. */
  readonly boot: string;
  /** The rest is for the usage record, in case this run does not live to write it. */
  readonly style: string;
  readonly model: string;
  readonly stream: boolean;
  readonly ip: string;
  readonly createdMs: number;
}

/** One row of `bucket`. */
interface Bucket extends Layer {
  /** When its window began, unix milliseconds; 0 where it has none. */
  readonly windowStart: number;
}

/** A layer as a call meets it: who is asked there, what the client is told where too little is left, and the statements. */
interface Limit {
  readonly owner: 'accountId' | 'keyId';
  readonly code: string;
  readonly message: string;
  readonly hold: string;
  readonly close: string;
}

function limitOf(kind: Layer['kind'], owner: Limit['owner'], code: string, message: string): Limit {
  const bucket = `kind = '${kind}' AND owner = ? AND window_start = 0`;
  return {
    owner,
    code,
    message,
    hold: `UPDATE bucket SET held = held + ? WHERE ${bucket} AND (unlimited = 1 OR granted - used - held >= ?)`,
    close: `UPDATE bucket SET held = held - ?, used = used + ? WHERE ${bucket}`,
  };
}

/** The layers a call is taken from, in the order in which they may refuse. */
const limits = [
  limitOf(
    'account',
    'accountId',
    'QUOTA_USER_INSUFFICIENT',
    'the account has not that much left. Credit it, or ask for fewer output tokens.',
  ),
  limitOf(
    'key',
    'keyId',
    'QUOTA_TOKEN_INSUFFICIENT',
    'this key may not spend that much any more. Raise its allowance, or ask for fewer output tokens.',
  ),
];

/** How many layers every call is taken from. */
export const LIMITS_PER_CALL = limits.length;

const THIS_BUCKET = 'kind = ? AND owner = ? AND window_start = ?';
const INSERT_ENTRY = 'INSERT INTO entry (ref, op, kind, owner, window_start, amount, at_ms, actor) VALUES';
/** A call's debits in all layers. */
const INSERT_DEBITS = `${INSERT_ENTRY} (?, 'debit', 'account', ?, 0, ?, ?, ?), (?, 'debit', 'key', ?, 0, ?, ?, ?)`;
const INSERT_HOLD = `INSERT INTO hold (id, boot, account_id, key_id, amount, style, model, stream, ip, created_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Sets the amount aside in every layer. The `must` that fails is the code of the first layer that has too little. */
export function holdSteps(hold: Hold): readonly Step[] {
  const { id, boot, accountId, keyId, amount, style, model, stream, ip, createdMs } = hold;
  const steps: Step[] = [];
  for (const { owner, code, hold: sql } of limits) {
    steps.push({ sql, params: [amount, hold[owner], amount], must: code });
  }
  const params = [id, boot, accountId, keyId, amount, style, model, stream ? 1 : 0, ip, createdMs];
  steps.push({ sql: INSERT_HOLD, params });
  return steps;
}

/** Sets more aside for a call that runs: all of it in every layer, or nothing. */
export function growSteps(hold: Hold, more: bigint): readonly Step[] {
  return [
    ...limits.map(({ owner, code, hold: sql }) => ({ sql, params: [more, hold[owner], more], must: code })),
    { sql: 'UPDATE hold SET amount = amount + ? WHERE id = ?', params: [more, hold.id], must: 'settled' },
  ];
}

/** What every layer of a payer has left, at the least; by the time it is read it may be less. */
export async function leftFor(store: Store, { accountId, keyId }: Payer): Promise<bigint> {
  const row = await store.one<{ left: string | null }>(
    `SELECT CAST(min(granted - used - held) AS TEXT) AS left FROM bucket
      WHERE unlimited = 0 AND window_start = 0 AND (kind = 'account' AND owner = ? OR kind = 'key' AND owner = ?)`,
    accountId,
    keyId,
  );
  return BigInt(row?.left ?? 0);
}

/** The refusal behind a code that `holdSteps` came back with. */
export function insufficient(code: string, amount: bigint): GatewayError {
  const limit = limits.find((candidate) => candidate.code === code);
  if (limit === undefined) throw new Error(`no layer refuses with ${code}`);
  return new GatewayError(403, code, `This call may cost up to ${inQuota(amount)} quota: ${limit.message}`, {
    headers: { 'x-should-retry': 'false' },
  });
}

/** Remembers what a running call has delivered so far, for the case that this run of the gateway dies. */
export function checkpointStep(id: string, delivered: bigint): Step {
  return { sql: 'UPDATE hold SET delivered = ? WHERE id = ? AND delivered < ?', params: [delivered, id, delivered] };
}

/**
 * Ends a hold, once: takes `charge` (0n to the amount held) and frees the rest. The `must` `settled` fails where it was
 * ended before.
 */
export function closeSteps(
  hold: Payer & Pick<Hold, 'id' | 'amount'>,
  charge: bigint,
  atMs: number,
  actor: 'call' | 'recovery',
): readonly Step[] {
  const { id, amount, accountId, keyId } = hold;
  const steps: Step[] = [{ sql: 'DELETE FROM hold WHERE id = ?', params: [id], must: 'settled' }];
  for (const { owner, close } of limits) {
    steps.push({ sql: close, params: [amount, charge, hold[owner]], must: 'bucket_missing' });
  }
  if (charge > 0n) {
    steps.push({
      sql: INSERT_DEBITS,
      params: [id, accountId, charge, atMs, actor, id, keyId, charge, atMs, actor],
    });
  }
  return steps;
}

interface Entry {
  readonly ref: string;
  readonly op: 'credit';
  readonly amount: bigint;
  readonly atMs: number;
  readonly actor: string;
}

function entryStep(entry: Entry, { kind, owner, windowStart }: Bucket): Step {
  return {
    sql: `${INSERT_ENTRY} (?, ?, ?, ?, ?, ?, ?, ?)`,
    params: [entry.ref, entry.op, kind, owner, windowStart, entry.amount, entry.atMs, entry.actor],
  };
}

/** What other plugins may ask of the ledger. `charged` tells what an exchange was charged. */
export function createLedger(store: Store, clock: Clock, charged: (x: Exchange) => bigint): Ledger {
  async function balance(layer: Layer): Promise<Balance | undefined> {
    const row = await store.one<{ granted: string; used: string; held: string; unlimited: number }>(
      `SELECT CAST(granted AS TEXT) AS granted, CAST(used AS TEXT) AS used, CAST(held AS TEXT) AS held, unlimited
        FROM bucket WHERE ${THIS_BUCKET}`,
      layer.kind,
      layer.owner,
      0,
    );
    if (row === undefined) return undefined;
    return {
      granted: BigInt(row.granted),
      used: BigInt(row.used),
      held: BigInt(row.held),
      unlimited: row.unlimited === 1,
    };
  }

  return {
    balance,
    charged,

    open(layer, granted, unlimited) {
      if (granted < 0n || granted > LARGEST_GRANT) refuseAmount(granted);
      const bucket = { ...layer, windowStart: 0 };
      const steps: Step[] = [
        {
          sql: 'INSERT INTO bucket (kind, owner, window_start, granted, unlimited) VALUES (?, ?, ?, ?, ?)',
          params: [bucket.kind, bucket.owner, bucket.windowStart, granted, unlimited ? 1 : 0],
        },
      ];
      if (granted > 0n) {
        const ref = `open:${layer.kind}:${layer.owner}`;
        steps.push(entryStep({ ref, op: 'credit', amount: granted, atMs: clock.now(), actor: 'open' }, bucket));
      }
      return steps;
    },

    async credit(layer, amount, ref, actor) {
      if (amount <= 0n || amount > LARGEST_GRANT) refuseAmount(amount);
      const bucket = { ...layer, windowStart: 0 };
      const entry = entryStep({ ref, op: 'credit', amount, atMs: clock.now(), actor }, bucket);
      const failed = await store.atomic([
        { ...entry, sql: `${entry.sql} ON CONFLICT DO NOTHING`, must: 'credited_before' },
        {
          sql: `UPDATE bucket SET granted = granted + ? WHERE ${THIS_BUCKET} AND granted <= ?`,
          params: [amount, bucket.kind, bucket.owner, bucket.windowStart, LARGEST_GRANT - amount],
          must: 'no_room',
        },
      ]);
      if (failed !== 'no_room') return failed === undefined;
      if ((await balance(layer)) !== undefined) refuseAmount(amount);
      return refuse(404, 'layer_not_found', `There is no ${layer.kind} ${layer.owner} in the ledger.`);
    },
  };
}

function refuseAmount(amount: bigint): never {
  const most = inQuota(LARGEST_GRANT);
  refuse(400, 'invalid_amount', `${inQuota(amount)} quota cannot be granted: above zero, and at most ${most} in all.`);
}

/** Micro-quota as quota, exact: `1500000n` is `1.5`. */
export function inQuota(micro: bigint): string {
  const size = micro < 0n ? -micro : micro;
  const fraction = (size % MICRO).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}
