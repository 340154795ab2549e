/** Holds: the statements that set an amount aside for a call, and take what was used of it. Amounts are micro-quota. */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { Step } from '../../core/plugin.ts';
import { INSERT_ENTRY, OWES_NOTHING, placeOf, THIS_BUCKET } from './buckets.ts';

/** A layer beside account and key that a call is taken from. */
export interface Extra extends Layer {
  /** 0 where it has no window. */
  readonly windowStart: number;
}

/** One that is to be held from. */
export interface LimitedExtra extends Extra {
  /** What its bucket is granted, by the plan or the department it belongs to. */
  readonly limit: bigint;
}

/** Who a call is taken from. */
export interface Payer {
  readonly accountId: number;
  readonly keyId: number;
  /** False: the call is included in a subscription, and the account's balance pays nothing. */
  readonly fromAccount: boolean;
  /** In the order in which they may refuse, behind account and key. */
  readonly extras: readonly Extra[];
}

/** A reservation: set aside before the call goes out, until it is known what was used. */
export interface Hold extends Payer {
  /** The exchange's id. */
  readonly id: string;
  /** Above zero. */
  readonly amount: bigint;
  readonly extras: readonly LimitedExtra[];
  /** The run of the gateway that made it. */
  readonly boot: string;
  /** The rest is for the usage record, in case this run does not live to write it. */
  readonly style: string;
  readonly model: string;
  readonly stream: boolean;
  readonly ip: string;
  readonly createdMs: number;
}

const ROOM = '(unlimited = 1 OR granted - used - held >= ?)';
const OF_ACCOUNT = `kind = 'account' AND owner = ? AND window_start = 0`;
const OF_KEY = `kind = 'key' AND owner = ? AND window_start = 0`;
/** Who owes something gets nothing, however much there is. */
const HOLD_ACCOUNT = `UPDATE bucket SET held = held + ? WHERE ${OF_ACCOUNT} AND ${ROOM} AND ${OWES_NOTHING}`;
const HOLD_KEY = `UPDATE bucket SET held = held + ? WHERE ${OF_KEY} AND ${ROOM}`;
const HOLD_EXTRA = `UPDATE bucket SET held = held + ? WHERE ${THIS_BUCKET} AND ${ROOM}`;
/** A limit follows what is written down of it, but not below what is used up already. */
const GRANT_EXTRA = `INSERT INTO bucket (kind, owner, window_start, granted) VALUES (?, ?, ?, ?)
  ON CONFLICT (kind, owner, window_start) DO UPDATE SET unlimited = 0, granted =
    CASE WHEN excluded.granted < bucket.used + bucket.held THEN bucket.used + bucket.held ELSE excluded.granted END
  WHERE bucket.granted <> excluded.granted OR bucket.unlimited = 1`;

const CLOSE = 'UPDATE bucket SET held = held - ?, used = used + ? WHERE';
const CLOSE_ACCOUNT = `${CLOSE} ${OF_ACCOUNT}`;
const CLOSE_KEY = `${CLOSE} ${OF_KEY}`;
const CLOSE_EXTRA = `${CLOSE} ${THIS_BUCKET}`;

const HOLD_COLUMNS = 'id, boot, account_id, key_id, amount, style, model, stream, ip, created_ms';
const INSERT_HOLD = `INSERT INTO hold (${HOLD_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_INCLUDED_HOLD = `INSERT INTO hold (${HOLD_COLUMNS}, from_account) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`;
const INSERT_HOLD_LAYER = 'INSERT INTO hold_layer (hold_id, kind, owner, window_start) VALUES (?, ?, ?, ?)';
/** A call's debits of account and key. */
const INSERT_DEBITS = `${INSERT_ENTRY} VALUES (?, 'debit', 'account', ?, 0, ?, ?, ?), (?, 'debit', 'key', ?, 0, ?, ?, ?)`;
const INSERT_DEBIT = `${INSERT_ENTRY} VALUES (?, 'debit', ?, ?, ?, ?, ?, ?)`;

/** The name of a layer that had too little. */
export function nameOf({ kind, owner }: Layer): string {
  return `${kind} ${owner}`;
}

/**
 * Sets an amount aside in every layer, where it has `room` left; the `must` that fails names the first that has too little: `account`, `key`, or what `nameOf`
 * says of the others. An included call asks the account only whether it owes anything.
 */
function setAsideSteps({ accountId, keyId, fromAccount, extras }: Hold, amount: bigint, room = amount): Step[] {
  const ofAccount = fromAccount ? amount : 0n;
  const roomOfAccount = fromAccount ? room : 0n;
  const steps: Step[] = [
    { sql: HOLD_ACCOUNT, params: [ofAccount, accountId, roomOfAccount], must: 'account' },
    { sql: HOLD_KEY, params: [amount, keyId, room], must: 'key' },
  ];
  for (const extra of extras) {
    const place = placeOf(extra);
    steps.push(
      { sql: GRANT_EXTRA, params: [...place, extra.limit] },
      { sql: HOLD_EXTRA, params: [amount, ...place, room], must: nameOf(extra) },
    );
  }
  return steps;
}

/**
 * Opens a hold: its amount is set aside where every layer has `room` left, and what it is taken from is remembered. `must` as
 * `setAsideSteps` says.
 */
export function holdSteps(hold: Hold, room: bigint): readonly Step[] {
  const { id, boot, accountId, keyId, amount, style, model, stream, ip, createdMs, fromAccount, extras } = hold;
  const steps = setAsideSteps(hold, amount, room);
  steps.push({
    sql: fromAccount ? INSERT_HOLD : INSERT_INCLUDED_HOLD,
    params: [id, boot, accountId, keyId, amount, style, model, stream ? 1 : 0, ip, createdMs],
  });
  for (const extra of extras) steps.push({ sql: INSERT_HOLD_LAYER, params: [id, ...placeOf(extra)] });
  return steps;
}

/** Sets more aside for a call that runs, within the limits it began with: all of it in every layer, or nothing. */
export function growSteps(hold: Hold, more: bigint): readonly Step[] {
  return [
    ...setAsideSteps(hold, more),
    { sql: 'UPDATE hold SET amount = amount + ? WHERE id = ?', params: [more, hold.id], must: 'settled' },
  ];
}

/** Remembers what a running call has delivered so far, for the case that this run of the gateway dies. */
export function checkpointStep(id: string, delivered: bigint): Step {
  return { sql: 'UPDATE hold SET delivered = ? WHERE id = ? AND delivered < ?', params: [delivered, id, delivered] };
}

/**
 * Ends a hold, once: takes `charge` (0n to the amount held) out of what it was held from and frees the rest. The `must` `settled`
 * fails where it was ended before.
 */
export function closeSteps(
  hold: Payer & Pick<Hold, 'id' | 'amount'>,
  charge: bigint,
  atMs: number,
  actor: 'call' | 'recovery',
): readonly Step[] {
  const { id, amount, accountId, keyId, fromAccount, extras } = hold;
  const steps: Step[] = [{ sql: 'DELETE FROM hold WHERE id = ?', params: [id], must: 'settled' }];
  if (fromAccount) steps.push({ sql: CLOSE_ACCOUNT, params: [amount, charge, accountId], must: 'bucket_missing' });
  steps.push({ sql: CLOSE_KEY, params: [amount, charge, keyId], must: 'bucket_missing' });
  if (charge > 0n && fromAccount) {
    const params = [id, accountId, charge, atMs, actor, id, keyId, charge, atMs, actor];
    steps.push({ sql: INSERT_DEBITS, params });
  } else if (charge > 0n) {
    steps.push(debitStep(id, { kind: 'key', owner: keyId }, charge, atMs, actor));
  }
  if (extras.length === 0) return steps;
  steps.push({ sql: 'DELETE FROM hold_layer WHERE hold_id = ?', params: [id] });
  for (const extra of extras) {
    steps.push({ sql: CLOSE_EXTRA, params: [amount, charge, ...placeOf(extra)], must: 'bucket_missing' });
    if (charge > 0n) steps.push(debitStep(id, extra, charge, atMs, actor));
  }
  return steps;
}

function debitStep(id: string, layer: Layer, charge: bigint, atMs: number, actor: string): Step {
  return { sql: INSERT_DEBIT, params: [id, ...placeOf(layer), charge, atMs, actor] };
}
