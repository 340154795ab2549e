/**
 * Writes what was found into the store: departments, accounts with their balances, keys. Each thing is written in one
 * list with the row that remembers it, so an import that was interrupted goes on where it stopped, and a second one
 * changes nothing.
 */
import { type Account, Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { limitsText } from '../../core/contracts/key-limits.ts';
import { Keys, type NewKey } from '../../core/contracts/keys.ts';
import { inQuota, LARGEST_GRANT, Ledger } from '../../core/contracts/ledger.ts';
import { Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { GatewayError, type Host, type JsonObject, type Step } from '../../core/plugin.ts';
import type { ForeignDepartment, ForeignKey, ForeignUser, Inventory, Left } from './inventory.ts';
import { withSuffix } from './names.ts';
import { type ImportedKind, readImports } from './tables.ts';

/** How long a link for a new password is valid. */
const LINK_MS = 7 * 86_400_000;

/** How many names are tried for an account or a department. */
const MOST_NAMES = 100;

/** One thing that was, or would be, imported. */
export interface Taken {
  readonly kind: 'department' | 'account' | 'key';
  /** Its name there. */
  readonly from: string;
  /** What it is here. */
  readonly to: string;
  readonly isNew: boolean;
}

/** What a user has to be sent. Its secret is not stored here, so it is handed out as soon as it exists. */
export interface Handout {
  readonly account: string;
  readonly email: string | undefined;
  /** A link for a new password, or a new key with its name. */
  readonly what: string;
  readonly secret: string;
}

/** The result. */
export interface Takeover {
  readonly taken: readonly Taken[];
  readonly left: readonly Left[];
  readonly handouts: readonly Omit<Handout, 'secret'>[];
}

/** How much to take over, and from what. */
export interface TakeoverOptions {
  /** The other gateway: `new-api`. */
  readonly kind: string;
  /** What it shares identifiers with: `one-api`. */
  readonly family: string;
  /** Only find out what would be done. */
  readonly isDry: boolean;
  /** Keeps a secret for its user. */
  handOut(handout: Handout): void;
}

/** Takes everything over. */
export async function takeOver(
  host: Host,
  inventory: Pick<Inventory, 'departments' | 'users' | 'keys'>,
  { kind, family, isDry, handOut }: TakeoverOptions,
): Promise<Takeover> {
  const accounts = host.use(Accounts);
  const keys = host.use(Keys);
  const ledger = host.use(Ledger);
  const departments = host.use(Departments);
  const imports = await readImports(host, family);
  const results: Taken[] = [];
  const left: Left[] = [];
  const handouts: Omit<Handout, 'secret'>[] = [];
  const give = (handout: Handout): void => {
    handOut(handout);
    const { secret: _, ...others } = handout;
    handouts.push(others);
  };

  const audited = (action: string, object: string, facts: JsonObject = {}): readonly Step[] =>
    host.find(Audit)?.steps({ actor: COMMAND_LINE, action, object, facts: { imported: kind, ...facts } }) ?? [];

  /** The steps to write along with a thing: the row that remembers it, and the audit entry. */
  const along = (
    what: ImportedKind,
    id: string,
    name: string,
    ownId: number,
    entry: readonly Step[],
  ): readonly Step[] => [imports.step(what, id, { name, ownId }), ...entry];

  /** Does one part of a thing, once. `work` writes it together with the steps of `along`. */
  async function once(
    what: ImportedKind,
    id: string,
    name: string,
    ownId: number,
    work: () => Promise<unknown>,
  ): Promise<void> {
    if (imports.find(what, id) !== undefined) return;
    if (!isDry) await work();
    imports.note(what, id, { name, ownId });
  }

  /** Refusals of one thing are reported, and the import goes on. */
  async function orLeave(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      left.push({ what, why: error.message });
    }
  }

  /** Whether a thing was imported before under the same identifier but another name: then it may be another one. */
  function isAnother(what: ImportedKind, id: string, name: string): boolean {
    const before = imports.find(what, id);
    if (before === undefined || before.name === name) return false;
    const why = `its identifier was imported before as "${before.name}": it was renamed, or this is another database`;
    left.push({ what: `${what} ${name}`, why });
    return true;
  }

  async function takeDepartment({ id, name, ...limits }: ForeignDepartment): Promise<void> {
    if (isAnother('department', id, name)) return;
    const before = imports.find('department', id);
    const taken = departments.all().filter((each) => each.parentId === undefined);
    const free = firstOf(namesFor(name), (each) => !taken.some((other) => sameName(other.name, each)));
    if (before === undefined) {
      const made = isDry
        ? { id: 0 }
        : await departments.create({ name: free, ...limits }, (ownId) =>
            along('department', id, name, ownId, audited('department.create', `department ${ownId}`)),
          );
      imports.note('department', id, { name, ownId: made.id });
    }
    const { factorPpm, budget, monthlyBudget, enabled } = limits;
    const to = [
      `department ${before === undefined ? free : (departments.get(before.ownId)?.name ?? name)}`,
      ...(factorPpm === undefined ? [] : [`price factor ${factorPpm / 1_000_000}`]),
      ...(budget === undefined ? [] : [`budget ${inQuota(budget)}`]),
      ...(monthlyBudget === undefined ? [] : [`monthly budget ${inQuota(monthlyBudget)}`]),
      ...(enabled ? [] : ['disabled']),
    ].join(', ');
    results.push({ kind: 'department', from: name, to, isNew: before === undefined });
  }

  /** An account under the name of the user, or with the name of the other gateway behind it if that is taken. */
  async function createAccount(user: ForeignUser, role: 'member' | 'admin'): Promise<Account> {
    const balance = user.balance;
    const isEmailTaken = user.email !== undefined && (await accounts.findByEmail(user.email)) !== undefined;
    if (isEmailTaken) {
      left.push({ what: `email address of ${user.name}`, why: 'another account has it' });
    }
    const create = (name: string, email: string | undefined): Promise<Account> =>
      accounts.create(
        {
          name,
          role,
          ...(user.displayName !== undefined && { displayName: user.displayName }),
          email,
          opening: balance === undefined ? 'unlimited' : 'empty',
        },
        (id) =>
          along('user', user.id, user.name, id, [
            ...creditOf(id, user),
            ...audited('user.create', `user ${id}`, { role }),
          ]),
      );
    let address = isEmailTaken ? undefined : user.email;
    let refusal: unknown;
    for (const name of namesFor(user.name)) {
      try {
        return await create(name, address).catch((error: unknown) => {
          if (!hasCode(error, 'invalid_email')) throw error;
          left.push({ what: `email address of ${user.name}`, why: error.message });
          address = undefined;
          return create(name, undefined);
        });
      } catch (error) {
        if (!hasCode(error, 'name_taken')) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  /** The name, and the names to try if it is taken. */
  function* namesFor(name: string): Generator<string> {
    yield name;
    yield withSuffix(name, `-${kind}`);
    for (let number = 2; number < MOST_NAMES; number++) yield withSuffix(name, `-${kind}-${number}`);
  }

  /** The steps that credit the balance of a user. */
  function creditOf(accountId: number, { id, balance }: ForeignUser): readonly Step[] {
    if (balance === undefined || balance <= 0n) return [];
    const amount = balance > LARGEST_GRANT ? LARGEST_GRANT : balance;
    const entry = audited('user.quota', `user ${accountId}`, { mode: 'add', value: inQuota(amount) });
    return [...ledger.creditSteps(accountId, amount, refOf(family, 'user', id), 'import'), ...entry];
  }

  async function accountOf(user: ForeignUser): Promise<Account | undefined> {
    const before = imports.find('user', user.id);
    if (before !== undefined) return accounts.find(before.ownId);
    if (user.role === 'root') {
      const root = (await accounts.list()).find(({ role }) => role === 'root');
      if (root !== undefined) {
        if (!isDry) {
          const failed = await host.store.atomic(along('user', user.id, user.name, root.id, creditOf(root.id, user)));
          if (failed !== undefined) throw new Error(`the balance of ${user.name} was not imported: ${failed}`);
        }
        return root;
      }
    }
    if (!isDry) return createAccount(user, user.role === 'member' ? 'member' : 'admin');
    let name = user.name;
    for (name of namesFor(user.name)) if ((await accounts.findByName(name)) === undefined) break;
    return { id: 0, name, role: user.role, enabled: true, createdMs: 0 };
  }

  /** Users whose identifier is that of another one here: their keys must not become keys of that one. */
  const strangers = new Set<string>();

  async function takeUser(user: ForeignUser): Promise<void> {
    if (isAnother('user', user.id, user.name)) {
      strangers.add(user.id);
      return;
    }
    const home = user.department === undefined ? undefined : imports.find('department', user.department);
    if (user.department !== undefined && home === undefined) {
      // Without it, the price or the budget would be another one.
      left.push({ what: `user ${user.name}`, why: 'the department was not imported' });
      return;
    }
    const isNew = imports.find('user', user.id) === undefined;
    const account = await accountOf(user);
    if (account === undefined) return;
    const { id } = account;
    const isRoot = account.role === 'root';
    imports.note('user', user.id, { name: user.name, ownId: id });
    if (user.balance !== undefined && user.balance > LARGEST_GRANT) {
      left.push({
        what: `balance of ${user.name}`,
        why: `it is above the maximum: ${inQuota(LARGEST_GRANT)} quota were credited`,
      });
    }
    await once('profile', user.id, user.name, id, () =>
      accounts.change(
        id,
        {
          ...(user.group !== undefined && { group: user.group }),
          ...(user.remark !== undefined && { remark: user.remark }),
          ...(!user.enabled && !isRoot && { enabled: false }),
        },
        along('profile', user.id, user.name, id, []),
      ),
    );
    const debt = user.balance !== undefined && user.balance < 0n && !isRoot ? -user.balance : undefined;
    if (debt !== undefined) {
      await once('debt', user.id, user.name, id, async () => {
        const steps = await ledger.takeBackSteps(id, debt, refOf(family, 'debt', user.id), 'import');
        const failed = await host.store.atomic([...steps, ...along('debt', user.id, user.name, id, [])]);
        if (failed !== undefined) throw new Error(`the debt of ${user.name} was not imported: ${failed}`);
      });
    }
    if (home !== undefined) {
      await once('place', user.id, user.name, id, () =>
        departments.place(id, home.ownId, along('place', user.id, user.name, id, [])),
      );
    }
    if (isNew && !isDry && user.isPerson && !isRoot) await handOutLink(account);
    const to = [
      `account ${account.name}, ${account.role}`,
      debt !== undefined
        ? `debt ${inQuota(debt)}`
        : `balance ${user.balance === undefined ? 'unlimited' : inQuota(user.balance)}`,
      ...(home === undefined ? [] : [`department ${home.name}`]),
      ...(user.enabled ? [] : ['disabled']),
    ].join(', ');
    results.push({ kind: 'account', from: user.name, to, isNew });
  }

  /** A link for a new password. Without a console, or an address to sign in with, an administrator sets one. */
  async function handOutLink({ id, name }: Account): Promise<void> {
    const [site, tickets, person] = [host.find(Site), host.find(Tickets), await accounts.person(id)];
    const email = person?.email;
    if (site === undefined || tickets === undefined || email === undefined || person?.enabled !== true) return;
    const code = await tickets.issue('password-reset', { accountId: id, forMs: LINK_MS });
    const secret = `${site.root}/console/reset?email=${encodeURIComponent(email)}&code=${code}`;
    give({ account: name, email, what: 'link for a new password', secret });
  }

  async function takeKey(key: ForeignKey): Promise<void> {
    const owner = strangers.has(key.user) ? undefined : imports.find('user', key.user);
    const what = `key ${key.name}`;
    if (owner === undefined) {
      left.push({ what, why: 'its owner was not imported' });
      return;
    }
    const isNew = imports.find('key', key.id) === undefined;
    const newKey: NewKey = {
      accountId: owner.ownId,
      name: key.name,
      allowance: key.allowance,
      limits: key.limits,
      models: key.models,
      addresses: key.addresses,
      expiresMs: key.expiresMs,
      enabled: key.enabled,
    };
    if (isNew && !isDry) {
      const written = ({ id }: { readonly id: number }): readonly Step[] =>
        along('key', key.id, key.name, id, audited('key.create', `key ${id}`));
      if (key.secret === undefined) {
        const { secret } = await keys.create(newKey, written);
        const person = await accounts.person(owner.ownId);
        give({ account: person?.name ?? owner.name, email: person?.email, what: `new key ${key.name}`, secret });
      } else if ((await keys.adopt(newKey, key.secret, written)) === undefined) {
        left.push({ what, why: 'there is, or was, a key with this secret here' });
        return;
      }
    }
    const to = [
      key.secret === undefined ? 'a new key' : 'the same key',
      `limit ${key.allowance === undefined ? 'none' : inQuota(key.allowance)}`,
      ...(key.limits === undefined ? [] : [`limits ${limitsText(key.limits)}`]),
      ...(key.models === undefined ? [] : [`models ${key.models.join(' ')}`]),
      ...(key.addresses === undefined ? [] : [`addresses ${key.addresses.join(' ')}`]),
      ...(key.expiresMs === undefined ? [] : [`expires ${new Date(key.expiresMs).toISOString()}`]),
      ...(key.enabled ? [] : ['disabled']),
    ].join(', ');
    results.push({ kind: 'key', from: `${key.name} of ${owner.name}`, to, isNew });
  }

  for (const department of inventory.departments) {
    await orLeave(`department ${department.name}`, () => takeDepartment(department));
  }
  for (const user of inventory.users) await orLeave(`user ${user.name}`, () => takeUser(user));
  for (const key of inventory.keys) await orLeave(`key ${key.name}`, () => takeKey(key));
  return { taken: results, left, handouts };
}

/** The `ref` of an entry in the ledger, which is written once. */
function refOf(family: string, what: string, id: string): string {
  return `import:${family}:${what}:${id}`;
}

function hasCode(error: unknown, code: string): error is GatewayError {
  return error instanceof GatewayError && error.code === code;
}

/** The first of some names that is free; otherwise the last. */
function firstOf(names: Iterable<string>, isFree: (name: string) => boolean): string {
  let last = '';
  for (last of names) if (isFree(last)) break;
  return last;
}

/** Names of departments that differ only in case or width are equal. */
function sameName(a: string, b: string): boolean {
  return a.normalize('NFKC').toLowerCase() === b.normalize('NFKC').toLowerCase();
}
