/** Keys: creating, finding, changing and deleting them. */

import { Accounts } from '../../core/contracts/accounts.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Groups } from '../../core/contracts/groups.ts';
import type { KeyLimit, KeyRecord } from '../../core/contracts/identity.ts';
import type { Along, ForeignSecret, Keys, NewKey, OpenedKey, PlannedKey } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Prompts } from '../../core/contracts/prompts.ts';
import { RateLimits } from '../../core/contracts/rate-limits.ts';
import { StoredResponses } from '../../core/contracts/stored-responses.ts';
import { type Host, refuse, type Step } from '../../core/plugin.ts';
import { all, condition, createAddressList, mentions, nearest, orderOf, readName, readPage } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { createHolders, type Loaded } from './holders.ts';
import { assignmentsOf, COLUMNS, conditionOf, type KeyRow, ORDERS, toKey, valuesOf } from './rows.ts';
import { checkLimits, checkModels, isListed, modelsOf, readRanges } from './rules.ts';
import { hashOf, hintsOf, isForeign, isLikely, isWellFormed, newSecret } from './secret.ts';
import { createUses } from './uses.ts';

/** The maximum number of keys per account. */
const MOST_KEYS = 1_000;

/** Rows of one query. */
const PAGE = 2_000;

/** The topic that notifies other processes of changed keys. */
const CHANGED = 'keys.changed';
/** Changed keys: those of an account, or some. `adopted`: one with a secret of another gateway was created. */
type Changed = { readonly account?: number; readonly keys?: readonly number[]; readonly adopted?: true };

const MINE = 'id = ? AND account_id = ? AND revoked_ms IS NULL';
const REVOKE = 'UPDATE api_key SET revoked_ms = ?';

/** The service, and the parts for its plugin. */
export interface KeyRing extends Keys {
  /** Creates the key `first` for `root` in a store that never had a key; core shows it once. */
  openFirst(): Promise<void>;
  /** Records that a call used this key. */
  noteUse(key: KeyRecord): void;
  /** Subscribes to changes by other processes. */
  listen(): void;
  /** Finds out whether there are keys of other gateways; until then they are refused. Called at the start. */
  lookForAdopted(): Promise<void>;
  /** Writes when keys were last used, and deletes expired secrets. `goesOn` is called before each further piece. */
  tidy(goesOn: () => boolean): Promise<void>;
}

export function createKeys(host: Host): KeyRing {
  const { store, clock, peers } = host;
  const accounts = host.use(Accounts);
  const uses = createUses(host);
  const holders = createHolders(host, load);
  /** Without keys of other gateways, a secret without check characters needs no lookup. */
  let hasAdopted = false;
  async function lookForAdopted(): Promise<void> {
    const sql = 'SELECT id FROM api_key WHERE adopted = 1 AND revoked_ms IS NULL LIMIT 1';
    hasAdopted = (await store.one(sql)) !== undefined;
  }
  /** Removes holders from this process's cache. */
  function forgetHere({ account: accountId, keys = [], adopted }: Changed): void {
    if (adopted) hasAdopted = true;
    holders.forgetThose(({ key, account }) => account.id === accountId || keys.includes(key.id));
  }
  /** Removes them in all processes. */
  function forget(changed: Changed): void {
    forgetHere(changed);
    peers.tell(CHANGED, { ...changed });
  }
  // A disabled account is refused at the next call; all processes receive account changes.
  accounts.watch((account) => forgetHere({ account }));

  async function load(hash: string): Promise<Loaded | undefined> {
    const bytes = Buffer.from(hash, 'hex');
    const now = clock.now();
    const row = await store.one<KeyRow & { readonly until_ms: number | null }>(
      `SELECT ${COLUMNS}, NULL AS until_ms FROM api_key WHERE hash = ? AND revoked_ms IS NULL
        UNION ALL
        SELECT ${COLUMNS}, until_ms FROM api_key
          JOIN (SELECT key_id, until_ms FROM former_secret WHERE hash = ? AND until_ms > ?) AS former ON key_id = id
          WHERE revoked_ms IS NULL`,
      bytes,
      bytes,
      now,
    );
    if (row === undefined) return undefined;
    const account = await accounts.find(row.account_id);
    if (account === undefined) return undefined;
    return { holder: { key: toKey(row), account }, ...(row.until_ms !== null && { forMs: row.until_ms - now }) };
  }

  // Compiled on first use; cached as long as the record.
  const addressLists = new WeakMap<KeyRecord, (ip: string) => boolean>();
  function isInList(key: KeyRecord, cidrs: readonly string[], ip: string): boolean {
    let contains = addressLists.get(key);
    if (contains === undefined) {
      contains = createAddressList(cidrs);
      addressLists.set(key, contains);
    }
    return contains(ip);
  }

  /** The record of a row, with a later use that is not written yet. */
  function recordOf(row: KeyRow): KeyRecord {
    const key = toKey(row);
    const noted = uses.last(key.id);
    return noted === undefined ? key : { ...key, usedMs: Math.max(noted, key.usedMs ?? 0) };
  }

  const lastId = async (): Promise<number> =>
    (await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM api_key'))?.id ?? 0;

  /** The last id that was assigned, which may not be written yet. */
  let givenId = 0;
  /** The id of a new key. Concurrent creations get different ids; otherwise all except one would have to be repeated. */
  async function nextId(): Promise<number> {
    const last = await lastId();
    givenId = Math.max(last, givenId) + 1;
    return givenId;
  }

  const ownSecret = (secret: string): ForeignSecret => ({ hash: hashOf(secret), ...hintsOf(secret) });

  /** A key, and the steps that write it and its bucket. `must`: `key_not_new` if the id or the secret is taken, or there is a default key already. */
  function planned(
    id: number,
    { hash, prefix, suffix }: ForeignSecret,
    newKey: NewKey,
    kind: 'usual' | 'default' | 'adopted',
  ): PlannedKey {
    const key: KeyRecord = {
      id,
      accountId: newKey.accountId,
      name: newKey.name,
      prefix,
      suffix,
      enabled: newKey.enabled ?? true,
      createdMs: clock.now(),
      usedMs: undefined,
      expiresMs: newKey.expiresMs,
      models: newKey.models,
      addresses: newKey.addresses,
      strict: newKey.strict ?? false,
      limits: newKey.limits,
      ...(newKey.group !== undefined && { group: newKey.group }),
    };
    const values = [...valuesOf(key), kind === 'default' ? 1 : 0, kind === 'adopted' ? 1 : 0, Buffer.from(hash, 'hex')];
    const steps = [
      {
        sql: `INSERT INTO api_key (${COLUMNS}, is_default, adopted, hash) VALUES (${values.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
        params: values,
        must: 'key_not_new',
      },
      {
        sql: `UPDATE api_key SET id = id WHERE id = ?
          AND (SELECT COUNT(*) FROM api_key WHERE account_id = ? AND revoked_ms IS NULL) <= ?`,
        params: [id, key.accountId, MOST_KEYS],
        must: 'too_many_keys',
      },
      ...(host.find(Ledger)?.open({ kind: 'key', owner: id }, newKey.allowance ?? 0n, newKey.allowance === undefined) ??
        []),
    ];
    return { key, steps };
  }

  /** Writes a key and its bucket in one list. Returns `new` if it is not new. */
  async function insert(
    id: number,
    secret: ForeignSecret,
    newKey: NewKey,
    kind: 'usual' | 'default' | 'adopted',
    along: Along,
  ): Promise<KeyRecord | 'new'> {
    const { key, steps } = planned(id, secret, newKey, kind);
    const failed = await store.atomic([...steps, ...along(key)]);
    if (failed === undefined) return key;
    if (failed === 'key_not_new') return 'new';
    if (failed === 'too_many_keys') throw errors.too_many_keys(MOST_KEYS);
    throw notWritten(failed);
  }

  /** Refuses (400) a group that gateway.yaml does not have. */
  function checkGroup(group: string): void {
    const names =
      host
        .find(Groups)
        ?.all()
        .map(({ name }) => name) ?? [];
    if (names.includes(group)) return;
    const similar = nearest(group, names);
    throw coreErrors.invalid_group(group, similar === undefined ? '.' : `; did you mean ${similar}?`);
  }

  /** Validates a new key; its models by `served`, as `checkModels` has it. */
  async function checked(newKey: NewKey, served = isServed): Promise<NewKey> {
    if ((await accounts.find(newKey.accountId)) === undefined) {
      throw coreErrors.account_not_found(newKey.accountId);
    }
    return checkedFields(newKey, served);
  }

  function checkedFields(newKey: NewKey, served: (name: string) => boolean): NewKey {
    if (newKey.models !== undefined)
      checkModels(newKey.models, served === isServed ? modelNames(newKey.models) : [], served);
    if (newKey.limits !== undefined) checkKeyLimits(newKey.limits, [], served);
    return { ...newKey, name: readName(newKey.name), addresses: newKey.addresses && readRanges(newKey.addresses) };
  }

  /** The model names of a key, validated if there is a catalog. */
  const modelNames = (requested: readonly string[]): readonly string[] => {
    const catalog = host.find(Catalog);
    return catalog === undefined ? requested : [...catalog.names(), ...catalog.patterns().map(({ name }) => name)];
  };
  const isServed = (name: string): boolean => host.find(Catalog)?.serves(name) === true;

  /** `kept`: models that may be named although they are no longer served. */
  function checkKeyLimits(limits: readonly KeyLimit[], kept: readonly string[], served = isServed): void {
    checkLimits(limits);
    for (const { budgets, requestsPerMinute, tokensPerMinute, concurrent } of limits) {
      const isRate = (requestsPerMinute ?? tokensPerMinute ?? concurrent) !== undefined;
      if (isRate && host.find(RateLimits) === undefined) throw errors.limits_off('limits');
      if (budgets !== undefined && host.find(Ledger) === undefined) throw errors.limits_off('quota');
    }
    const names = modelsOf({ limits });
    if (names.length > 0) checkModels(names, [...modelNames(names), ...kept], served);
  }

  async function get(accountId: number, id: number): Promise<KeyRecord | undefined> {
    const row = await store.one<KeyRow>(`SELECT ${COLUMNS} FROM api_key WHERE ${MINE}`, id, accountId);
    return row && recordOf(row);
  }

  async function findDefault(accountId: number): Promise<KeyRecord | undefined> {
    const row = await store.one<KeyRow>(
      `SELECT ${COLUMNS} FROM api_key WHERE account_id = ? AND is_default = 1 AND revoked_ms IS NULL`,
      accountId,
    );
    return row && recordOf(row);
  }

  /** Writes a list about a key of an account, whose first step must find the key; then removes it from the caches. */
  async function write(accountId: number, id: number, steps: readonly Step[]): Promise<KeyRecord> {
    const failed = await store.atomic(steps);
    forget({ keys: [id] });
    if (failed !== undefined && failed !== 'key_not_found') throw notWritten(failed);
    const key = failed === undefined ? await get(accountId, id) : undefined;
    return key ?? refuse(coreErrors.key_not_found(id));
  }

  /** The steps that delete what other plugins store about the calls of an account or of keys. */
  const contentSteps = (owner: Parameters<Prompts['deleteSteps']>[0]): readonly Step[] =>
    [Prompts, StoredResponses].flatMap((stored) => host.find(stored)?.deleteSteps(owner) ?? []);

  return {
    get,
    default: findDefault,

    find(secret) {
      if (!isLikely(secret) && !(hasAdopted && isForeign(secret))) return undefined;
      const hash = hashOf(secret);
      // Malformed keys are never cached: cached ones need no further check.
      return holders.remembered(hash) ?? (hasAdopted || isWellFormed(secret) ? holders.find(hash) : undefined);
    },

    async holderById(accountId, id) {
      const [key, account] = await Promise.all([get(accountId, id), accounts.find(accountId)]);
      return key && account && { key, account };
    },

    async create(newKey, along = () => []): Promise<OpenedKey> {
      if (newKey.group !== undefined) checkGroup(newKey.group);
      const checkedKey = await checked(newKey);
      const secret = newSecret();
      for (;;) {
        const key = await insert(await nextId(), ownSecret(secret), checkedKey, 'usual', along);
        if (key !== 'new') return { secret, key };
      }
    },

    async adopt(newKey, secret, along = () => []) {
      const checkedKey = await checked(newKey, () => true);
      const isTaken = (): Promise<unknown> =>
        store.one('SELECT id FROM api_key WHERE hash = ?', Buffer.from(secret.hash, 'hex'));
      while ((await isTaken()) === undefined) {
        const key = await insert(await nextId(), secret, checkedKey, 'adopted', along);
        if (key === 'new') continue;
        // It may have been tried before it existed.
        holders.forget(secret.hash);
        hasAdopted = true;
        peers.tell(CHANGED, { adopted: true });
        return key;
      }
      return undefined;
    },

    async plan() {
      const hashes = new Set<string>();
      const counts = new Map<number, number>();
      let id = 0;
      for (;;) {
        const rows = await store.all<{ id: number; account_id: number; hash: Uint8Array; is_revoked: number }>(
          `SELECT id, account_id, hash, CASE WHEN revoked_ms IS NULL THEN 0 ELSE 1 END AS is_revoked
            FROM api_key WHERE id > ? ORDER BY id LIMIT ${PAGE}`,
          id,
        );
        for (const row of rows) {
          hashes.add(shortOf(row.hash));
          if (row.is_revoked === 0) counts.set(row.account_id, (counts.get(row.account_id) ?? 0) + 1);
        }
        id = rows.at(-1)?.id ?? id;
        if (rows.length < PAGE) break;
      }
      id = Math.max(id, givenId);
      let added: string[] = [];
      const next = (newKey: NewKey, secret: ForeignSecret, kind: 'usual' | 'adopted'): PlannedKey => {
        const checkedKey = checkedFields(newKey, () => true);
        const count = (counts.get(newKey.accountId) ?? 0) + 1;
        if (count > MOST_KEYS) throw errors.too_many_keys(MOST_KEYS);
        const plannedKey = planned(id + 1, secret, checkedKey, kind);
        id++;
        counts.set(newKey.accountId, count);
        hashes.add(shortOf(Buffer.from(secret.hash, 'hex')));
        if (kind === 'adopted') added.push(secret.hash);
        return plannedKey;
      };
      return {
        create(newKey) {
          const secret = newSecret();
          return { secret, ...next(newKey, ownSecret(secret), 'usual') };
        },
        adopt: (newKey, secret) =>
          hashes.has(shortOf(Buffer.from(secret.hash, 'hex'))) ? undefined : next(newKey, secret, 'adopted'),
        written() {
          if (added.length === 0) return;
          // They may have been tried before they existed.
          for (const hash of added) holders.forget(hash);
          added = [];
          hasAdopted = true;
          peers.tell(CHANGED, { adopted: true });
        },
      };
    },

    async createDefault(newKey, along = () => []) {
      const checkedKey = await checked(newKey);
      const secret = newSecret();
      while ((await findDefault(newKey.accountId)) === undefined) {
        const key = await insert(await nextId(), ownSecret(secret), checkedKey, 'default', along);
        if (key !== 'new') return { secret, key };
      }
      return undefined;
    },

    async list(accountId) {
      const rows =
        accountId === undefined
          ? await store.all<KeyRow>(`SELECT ${COLUMNS} FROM api_key WHERE revoked_ms IS NULL ORDER BY id`)
          : await store.all<KeyRow>(
              `SELECT ${COLUMNS} FROM api_key WHERE account_id = ? AND revoked_ms IS NULL ORDER BY id`,
              accountId,
            );
      return rows.map(recordOf);
    },

    async search(search) {
      const { total, rows } = await readPage<KeyRow>(
        store,
        'api_key',
        COLUMNS,
        conditionOf(search),
        search,
        orderOf(search.sort, ORDERS),
      );
      return { total, items: rows.map(recordOf) };
    },

    async named(name, accountId, limit) {
      const { sql, params } = all(mentions('name', name), condition('account_id = ?', accountId));
      return store.all<Pick<KeyRecord, 'id' | 'accountId'>>(
        `SELECT id, account_id AS "accountId" FROM api_key WHERE ${sql} ORDER BY id DESC LIMIT ?`,
        ...params,
        limit,
      );
    },

    nameOf: async (id) => (await store.one<{ name: string }>('SELECT name FROM api_key WHERE id = ?', id))?.name,

    async ownerOf(id) {
      const sql = 'SELECT account_id FROM api_key WHERE id = ? AND revoked_ms IS NULL';
      return (await store.one<{ account_id: number }>(sql, id))?.account_id;
    },

    async change(accountId, id, changes, along = []) {
      const before = (await get(accountId, id)) ?? refuse(coreErrors.key_not_found(id));
      const { name, models, addresses, limits, group } = changes;
      // A model that is no longer served may stay in the list.
      if (models) checkModels(models, [...modelNames(models), ...(before.models ?? [])], isServed);
      if (limits) checkKeyLimits(limits, modelsOf(before));
      if (typeof group === 'string' && group !== before.group) checkGroup(group);
      const set = assignmentsOf({
        ...changes,
        ...(name !== undefined && { name: readName(name) }),
        ...(addresses && { addresses: readRanges(addresses) }),
      });
      // Scopes of gateway.yaml compare the name that the key was created with.
      const kept = name === undefined ? [] : ['scope_name = COALESCE(scope_name, name)'];
      const assignments = [...set.map(([column]) => `${column} = ?`), ...kept].join(', ') || 'id = id';
      const step = { sql: `UPDATE api_key SET ${assignments} WHERE ${MINE}`, must: 'key_not_found' };
      return write(accountId, id, [{ ...step, params: [...set.map(([, value]) => value), id, accountId] }, ...along]);
    },

    async rotate(accountId, id, graceMs, along = []) {
      const secret = newSecret();
      const { prefix, suffix } = hintsOf(secret);
      const untilMs = clock.now() + graceMs;
      const former =
        graceMs > 0
          ? {
              sql: `INSERT INTO former_secret (hash, key_id, until_ms) SELECT hash, id, ? FROM api_key WHERE ${MINE}`,
              params: [untilMs, id, accountId],
              must: 'key_not_found',
            }
          : undefined;
      const key = await write(accountId, id, [
        ...(former === undefined ? [] : [former]),
        {
          sql: `UPDATE api_key SET hash = ?, prefix = ?, suffix = ? WHERE ${MINE}`,
          params: [Buffer.from(hashOf(secret), 'hex'), prefix, suffix, id, accountId],
          must: 'key_not_found',
        },
        // Earlier rotated secrets must not outlive the one rotated now. The step above verified the owner.
        {
          sql: 'UPDATE former_secret SET until_ms = ? WHERE key_id = ? AND until_ms > ?',
          params: [untilMs, id, untilMs],
        },
        ...along,
      ]);
      return { secret, key };
    },

    async revoke(id, along = []) {
      const failed = await store.atomic([
        { sql: `${REVOKE} WHERE id = ? AND revoked_ms IS NULL`, params: [clock.now(), id], must: 'key_not_found' },
        ...contentSteps({ keys: [id] }),
        ...along,
      ]);
      forget({ keys: [id] });
      if (failed !== undefined && failed !== 'key_not_found') throw notWritten(failed);
      return failed === undefined;
    },

    async revokeAll(accountId, ids, along = []) {
      const each = [...new Set(ids)];
      const now = clock.now();
      const failed = await store.atomic([
        ...each.map((id) => ({ sql: `${REVOKE} WHERE ${MINE}`, params: [now, id, accountId], must: 'key_not_found' })),
        ...contentSteps({ keys: each }),
        ...along,
      ]);
      forget({ keys: each });
      if (failed !== undefined && failed !== 'key_not_found') throw notWritten(failed);
      return failed === undefined ? each.length : undefined;
    },

    async enableAll(accountId, ids, enabled, along = []) {
      const each = [...new Set(ids)];
      const failed = await store.atomic([
        ...each.map((id) => ({
          sql: `UPDATE api_key SET enabled = ? WHERE ${MINE}`,
          params: [enabled ? 1 : 0, id, accountId],
          must: 'key_not_found',
        })),
        ...along,
      ]);
      forget({ keys: each });
      if (failed !== undefined && failed !== 'key_not_found') throw notWritten(failed);
      return failed === undefined ? each.length : undefined;
    },

    revokeSteps: (accountId) => [
      { sql: `${REVOKE} WHERE account_id = ? AND revoked_ms IS NULL`, params: [clock.now(), accountId] },
      ...contentSteps({ account: accountId }),
    ],

    forget: (account) => forget({ account }),

    checkAddress(key, ip) {
      if (key.addresses === undefined || isInList(key, key.addresses, ip)) return;
      throw errors.ip_not_allowed(key.name, ip);
    },

    allows(key, model) {
      if (key.models === undefined || isListed(key.models, model)) return true;
      const catalog = host.find(Catalog);
      // Only a served name has a model behind it.
      return catalog?.serves(model) === true && isListed(key.models, catalog.require(model).name);
    },

    limitsFor({ limits }, model) {
      const ofModels = limits?.filter((limit) => limit.model !== undefined) ?? [];
      if (ofModels.length === 0) return ofModels;
      const catalog = host.find(Catalog);
      const behind = catalog?.serves(model) === true ? catalog.require(model).name : model;
      return ofModels.filter((limit) => isListed([limit.model!], model) || isListed([limit.model!], behind));
    },

    noteUse: (key) => uses.note(key.id),

    listen() {
      peers.on(CHANGED, (changed) => {
        forgetHere(changed as Changed);
        return undefined;
      });
      uses.listen();
    },

    lookForAdopted,

    async tidy(goesOn) {
      await uses.write(goesOn);
      // Another process may have created the first one, and its message may be lost.
      if (!hasAdopted) await lookForAdopted();
      if (peers.leads()) await store.run('DELETE FROM former_secret WHERE until_ms <= ?', clock.now());
    },

    async openFirst() {
      if ((await lastId()) > 0) return;
      const root = await accounts.findByName('root');
      if (root === undefined) return;
      host.find(FirstStart)?.begin();
      const secret = newSecret();
      const newKey = { accountId: root.id, name: 'first', allowance: undefined };
      const key = await insert(1, ownSecret(secret), newKey, 'usual', () => []);
      // `new` if another gateway on the same store was faster: then that one shows its key.
      if (key !== 'new') host.find(FirstStart)?.note({ key: secret });
    },
  };
}

/** A hash as a member of a large set. */
function shortOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('latin1');
}
