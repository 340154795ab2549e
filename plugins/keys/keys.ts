/** Keys: making, finding and revoking them. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import type { Holder, KeyRecord, Keys, NewKey } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import type { Host } from '../../core/plugin.ts';
import { canonicalRange, createAddressList, nearest, readName, refuse } from '../../core/plugin.ts';
import { createHolders } from './holders.ts';
import { hashOf, hintsOf, isWellFormed, newSecret } from './secret.ts';

interface KeyRow {
  readonly id: number;
  readonly account_id: number;
  readonly name: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly enabled: number;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly models: string | null;
  readonly addresses: string | null;
}

const COLUMNS = 'id, account_id, name, prefix, suffix, enabled, created_ms, expires_ms, models, addresses';

/** A refusal that stays the same however often it is asked for. */
export const NO_RETRY = { headers: { 'x-should-retry': 'false' } };

/** The service, and what the first start does. */
export interface KeyRing extends Keys {
  /** Makes the key `first` for `root` in a store that has never had a key; core shows it once. */
  openFirst(): Promise<void>;
}

/** Makes the service. */
export function createKeys(host: Host): KeyRing {
  const { store, clock } = host;
  const accounts = host.use(Accounts);

  const holders = createHolders(clock, async (hash): Promise<Holder | undefined> => {
    const row = await store.one<KeyRow>(
      `SELECT ${COLUMNS} FROM api_key WHERE hash = ? AND revoked_ms IS NULL`,
      Buffer.from(hash, 'hex'),
    );
    if (row === undefined) return undefined;
    const account = await accounts.find(row.account_id);
    return account && { key: toKey(row), account };
  });

  // Compiled on first use; a record lives as long as its place in the cache.
  const addressLists = new WeakMap<KeyRecord, (ip: string) => boolean>();
  function isInList(key: KeyRecord, cidrs: readonly string[], ip: string): boolean {
    let contains = addressLists.get(key);
    if (contains === undefined) {
      contains = createAddressList(cidrs);
      addressLists.set(key, contains);
    }
    return contains(ip);
  }

  const lastId = async (): Promise<number> =>
    (await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM api_key'))?.id ?? 0;

  /** Writes a key and its bucket as one; undefined where the id is taken. */
  async function insert(id: number, secret: string, asked: NewKey): Promise<KeyRecord | undefined> {
    const key: KeyRecord = {
      id,
      accountId: asked.accountId,
      name: asked.name,
      ...hintsOf(secret),
      enabled: true,
      createdMs: clock.now(),
      expiresMs: asked.expiresMs,
      models: asked.models,
      addresses: asked.addresses,
    };
    const hash = hashOf(secret);
    const failed = await store.atomic([
      {
        sql: `INSERT INTO api_key (${COLUMNS}, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        params: [
          key.id,
          key.accountId,
          key.name,
          key.prefix,
          key.suffix,
          1,
          key.createdMs,
          key.expiresMs ?? null,
          key.models === undefined ? null : JSON.stringify(key.models),
          key.addresses === undefined ? null : JSON.stringify(key.addresses),
          Buffer.from(hash, 'hex'),
        ],
        must: 'new',
      },
      ...(host.find(Ledger)?.open({ kind: 'key', owner: id }, asked.allowance ?? 0n, asked.allowance === undefined) ??
        []),
    ]);
    holders.forget(hash);
    return failed === undefined ? key : undefined;
  }

  return {
    find(secret) {
      return isWellFormed(secret) ? holders.find(hashOf(secret)) : undefined;
    },

    async create(asked) {
      if ((await accounts.find(asked.accountId)) === undefined) {
        refuse(404, 'account_not_found', `There is no account ${asked.accountId}.`);
      }
      if (asked.models !== undefined) checkModels(asked.models, host.find(Catalog));
      const checked = {
        ...asked,
        name: readName(asked.name),
        addresses: asked.addresses && readRanges(asked.addresses),
      };
      const secret = newSecret();
      for (;;) {
        const key = await insert((await lastId()) + 1, secret, checked);
        if (key !== undefined) return { secret, key };
      }
    },

    async list(accountId) {
      const rows =
        accountId === undefined
          ? await store.all<KeyRow>(`SELECT ${COLUMNS} FROM api_key WHERE revoked_ms IS NULL ORDER BY id`)
          : await store.all<KeyRow>(
              `SELECT ${COLUMNS} FROM api_key WHERE account_id = ? AND revoked_ms IS NULL ORDER BY id`,
              accountId,
            );
      return rows.map(toKey);
    },

    async revoke(id) {
      const row = await store.one<{ hash: Uint8Array }>('SELECT hash FROM api_key WHERE id = ?', id);
      if (row === undefined) return false;
      const changed = await store.run(
        'UPDATE api_key SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL',
        clock.now(),
        id,
      );
      holders.forget(Buffer.from(row.hash).toString('hex'));
      return changed > 0;
    },

    checkAddress(key, ip) {
      if (key.addresses === undefined || isInList(key, key.addresses, ip)) return;
      refuse(403, 'ip_not_allowed', `The key "${key.name}" may not be used from ${ip}.`, NO_RETRY);
    },

    allows(key, model) {
      if (key.models === undefined || key.models.includes(model)) return true;
      const catalog = host.find(Catalog);
      // Only a name that is served has a model behind it.
      return catalog?.names().includes(model) === true && key.models.includes(catalog.require(model).name);
    },

    async openFirst() {
      if ((await lastId()) > 0) return;
      const root = await accounts.findByName('root');
      if (root === undefined) return;
      const secret = newSecret();
      const key = await insert(1, secret, { accountId: root.id, name: 'first', allowance: undefined });
      // Undefined where another gateway on the same store was quicker: then that one shows its key.
      if (key !== undefined) host.find(FirstStart)?.note({ key: secret });
    },
  };
}

const toKey = (row: KeyRow): KeyRecord => ({
  id: row.id,
  accountId: row.account_id,
  name: row.name,
  prefix: row.prefix,
  suffix: row.suffix,
  enabled: row.enabled === 1,
  createdMs: row.created_ms,
  expiresMs: row.expires_ms ?? undefined,
  models: row.models === null ? undefined : (JSON.parse(row.models) as string[]),
  addresses: row.addresses === null ? undefined : (JSON.parse(row.addresses) as string[]),
});

/** No list is no restriction. An empty one could be meant either way, so it is refused. */
function checkModels(names: readonly string[], catalog: Catalog | undefined): void {
  if (names.length === 0)
    refuse(400, 'invalid_models', 'A key that may call no model is of no use.', { param: 'models' });
  const known = catalog?.names() ?? names;
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    refuse(400, 'invalid_models', `There is no model "${name}".${hint}`, { param: 'models' });
  }
}

function readRanges(texts: readonly string[]): readonly string[] {
  if (texts.length === 0)
    refuse(400, 'invalid_addresses', 'A key that may be used from nowhere is of no use.', { param: 'addresses' });
  return texts.map((text) => {
    const range = canonicalRange(text);
    return 'problem' in range ? refuse(400, 'invalid_addresses', range.problem, { param: 'addresses' }) : range.cidr;
  });
}
