/**
 * A later import: what has changed there since a thing was imported, compared with what was imported of it and not with what it is here now. It is
 * told, or with `--update` applied, in one list with the row that remembers it: balances as differences, everything else unless it was changed here, too.
 */

import type { AccountChanges } from '../../../core/contracts/accounts.ts';
import type { KeyLimit } from '../../../core/contracts/identity.ts';
import type { KeyChanges } from '../../../core/contracts/keys.ts';
import { type BalanceLayer, inQuota } from '../../../core/contracts/ledger.ts';
import type { Json, JsonObject, Step } from '../../../core/plugin.ts';
import type { ForeignDepartment, ForeignKey, ForeignUser } from '../inventory.ts';
import type { Taken } from '../planned.ts';
import { type Imported, type ImportedKind, isSame } from '../tables.ts';
import { unhurried } from '../unhurried.ts';
import type { Difference, Updating } from './difference.ts';
import { type Change, hasCode, namesFor, type Run, refOf } from './run.ts';
import { amountText, limitsJson, seenDepartment, seenKey, seenUser } from './seen.ts';
import { isOfSignIn, signInText, updateSignIn } from './sign-in-changes.ts';
import { creditable } from './sums.ts';

/** A thing that was imported before, and how it is compared. */
interface Compared {
  readonly kind: ImportedKind & ('department' | 'user' | 'key');
  readonly id: string;
  readonly name: string;
  readonly from: string;
  readonly before: Imported;
  readonly now: JsonObject;
  /** Fields that are amounts. */
  readonly amounts: readonly string[];
  /** Applies what differs, and says what was done with each; called with `--update` only, also in a dry run. */
  apply(differences: readonly Difference[], update: Updating): Promise<void>;
}

/** The keys of JSON that differ, but for those that only tell which thing it is, and those that an earlier import did not remember. */
function differencesOf(was: JsonObject, is: JsonObject): readonly Difference[] {
  return Object.keys(is).flatMap((field) =>
    field === 'code' || was[field] === undefined || isSame(was[field], is[field])
      ? []
      : [{ field, was: was[field], is: is[field] ?? null }],
  );
}

/** The name of a thing that was imported before: of an account the current one here, of others that of the import. */
function nameHere({ accountNames }: Run, kind: Compared['kind'], { name, ownId }: Imported): string {
  return (kind === 'user' ? accountNames.get(ownId) : undefined) ?? name;
}

async function compare(run: Run, thing: Compared): Promise<void> {
  const { kind, id, name, from, before, now, amounts } = thing;
  const results = (state: Taken['state'], changes: readonly Change[]): void => {
    if (run.isRehearsal === true) return;
    run.changed.push(...changes);
    const [ownKind, ownName] = [kind === 'user' ? 'account' : kind, nameHere(run, kind, before)] as const;
    run.taken.push({
      kind: ownKind,
      from,
      to: `${ownKind} ${ownName}`,
      state,
      ...(changes.length > 0 && { changes: changes.map(changeText) }),
      ...(changes.some((each) => each.state === 'applied') && { updated: true as const }),
    });
  };
  if (before.seen === undefined) return adopt(run, thing, () => results('unchanged', []));
  const differences = differencesOf(before.seen, now);
  if (differences.length === 0) return results('unchanged', []);
  const states = new Map<string, Pick<Change, 'state' | 'why'>>();
  const same = new Set<string>();
  let current = before;
  if (run.update === true) {
    const seenWith = (fields: readonly string[]): Imported => ({
      ...current,
      name: fields.includes('name') ? name : current.name,
      seen: { ...current.seen, ...Object.fromEntries(fields.map((field) => [field, now[field] ?? null])) },
    });
    await thing.apply(differences, {
      along: (fields) => [run.imports.changeStep(kind, id, current, seenWith(fields))],
      applied(fields) {
        current = { ...seenWith(fields), revision: (current.revision ?? 0) + 1 };
        run.imports.note(kind, id, current);
        for (const field of fields) states.set(field, { state: 'applied' });
      },
      same: (field) => void same.add(field),
      conflict: (field, why) => void states.set(field, { state: 'conflict', why }),
    });
  }
  const told = differences.filter(({ field }) => !same.has(field));
  const changes = told.map(({ field, was, is }): Change => {
    const isAmount = amounts.includes(field);
    return {
      kind: kind === 'user' ? 'account' : kind,
      name: from,
      field,
      was: isAmount ? quotaText(was) : textOf(was),
      is: isAmount ? quotaText(is) : textOf(is),
      ...(isAmount && typeof was === 'string' && typeof is === 'string' && { by: BigInt(is) - BigInt(was) }),
      ...(states.get(field) ?? { state: 'told' }),
    };
  });
  results(changes.length === 0 ? 'unchanged' : 'changed', changes);
}

/** A thing that an older release imported: from now on, it is compared with how it is there now. */
async function adopt(run: Run, { kind, id, name, before, now }: Compared, done: () => void): Promise<void> {
  const adopted = { ...before, name, seen: now };
  if (!run.isDry) await run.host.store.atomic([run.imports.changeStep(kind, id, before, adopted)]);
  run.imports.note(kind, id, { ...adopted, revision: (before.revision ?? 0) + 1 });
  if (kind === 'user' && run.imports.find('profile', id) === undefined)
    run.notes.push({
      kind: 'decide',
      where: 'users',
      what: `user ${name}`,
      why: 'an import by an older release was interrupted at this account: compare its group, state, debt and department',
    });
  done();
}

export function compareDepartment(run: Run, department: ForeignDepartment, before: Imported): Promise<void> {
  const { departments, isDry } = run;
  const id = before.ownId;
  return compare(run, {
    ...{ kind: 'department', id: department.id, name: department.name, from: department.name, before },
    now: seenDepartment(department),
    amounts: ['budget', 'monthlyBudget'],
    async apply(differences, update) {
      const here = departments.get(id);
      for (const { field, was, is } of differences) {
        const audit = run.audited('department.change', `department ${id}`);
        const write = async (work: (along: readonly Step[]) => Promise<unknown>): Promise<void> => {
          if (!isDry) await work([...update.along([field]), ...audit]);
          update.applied([field]);
        };
        await orConflict(update, [field], async () => {
          if (here === undefined) return update.conflict(field, 'the department was deleted here');
          if (field === 'budget' && typeof was === 'string' && typeof is === 'string') {
            // What members have spent here stays counted.
            return write((along) => departments.addToBudget(id, BigInt(is) - BigInt(was), along));
          }
          const own: Json =
            field === 'budget' || field === 'monthlyBudget'
              ? amountText(here[field])
              : (here[field as 'name' | 'enabled'] ?? null);
          if (!isSame(own, was)) return isSame(own, is) ? update.same(field) : update.conflict(field, CHANGED_HERE);
          const amount = typeof is === 'string' && field !== 'name' ? BigInt(is) : null;
          const changes =
            field === 'name'
              ? { name: String(is) }
              : field === 'enabled'
                ? { enabled: is === true }
                : { [field]: amount };
          return write((along) => departments.change(id, changes, along));
        });
      }
    },
  });
}

export function compareUser(run: Run, user: ForeignUser, before: Imported): Promise<void> {
  const { accounts, departments, isDry } = run;
  const id = before.ownId;
  return compare(run, {
    ...{ kind: 'user', id: user.id, name: user.name, from: user.name, before },
    now: seenUser(user),
    amounts: ['balance'],
    async apply(differences, update) {
      const here = await accounts.person(id);
      if (here === undefined || here.deletedMs !== undefined || here.role === 'root') {
        const why = here?.role === 'root' ? 'it is the root account' : 'the account was deleted here';
        for (const { field } of differences) update.conflict(field, why);
        return;
      }
      const own: Readonly<Record<string, Json>> = {
        ...{ name: here.name, displayName: here.displayName, email: here.email ?? null, role: here.role },
        ...{ enabled: here.enabled, group: here.group, remark: here.remark },
      };
      const changes: Record<string, Json> = {};
      for (const { field, was, is } of differences) {
        if (field === 'balance' || field === 'department' || isOfSignIn(field)) continue;
        if (!Object.hasOwn(own, field)) update.applied([]);
        else if (isSame(own[field], usualOf(field, was)))
          changes[field] = field === 'role' && is === 'root' ? 'admin' : usualOf(field, is);
        else if (isSame(own[field], usualOf(field, is))) update.same(field);
        else update.conflict(field, CHANGED_HERE);
      }
      const fields = Object.keys(changes);
      if (fields.length > 0)
        await orConflict(update, fields, async () => {
          const along = [...update.along(fields), ...run.audited('user.change', `user ${id}`, { fields })];
          if (!isDry) await changeAccount(run, id, changes, along);
          update.applied(fields);
        });
      await updateSignIn(run, here, user, differences, update);
      const place = differences.find(({ field }) => field === 'department');
      if (place !== undefined)
        await orConflict(update, ['department'], async () => {
          const idOf = (foreign: Json): number | undefined =>
            typeof foreign === 'string' ? run.imports.find('department', foreign)?.ownId : undefined;
          const [to, current] = [idOf(place.is), departments.departmentOf(id)?.id];
          if (typeof place.is === 'string' && to === undefined)
            return update.conflict('department', 'the department was not imported');
          if (current !== idOf(place.was) && current !== to) return update.conflict('department', CHANGED_HERE);
          if (!isDry) await departments.place(id, to ?? null, update.along(['department']));
          update.applied(['department']);
        });
      await shift(run, { kind: 'account', owner: id }, 'balance', user.id, differences, update, before);
    },
  });
}

/** A name that is taken gets a suffix, as that of a new account. */
async function changeAccount(run: Run, id: number, changes: AccountChanges, along: readonly Step[]): Promise<void> {
  if (changes.name === undefined) return void (await run.accounts.change(id, changes, along));
  let refusal: unknown;
  for (const name of namesFor(changes.name, run.kind)) {
    try {
      await run.accounts.change(id, { ...changes, name, renamesScope: true }, along);
      return void run.accountNames.set(id, name);
    } catch (error) {
      if (!hasCode(error, 'name_taken')) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

export function compareKey(run: Run, key: ForeignKey, before: Imported): Promise<void> {
  const { keys, isDry } = run;
  const id = before.ownId;
  const owner = run.imports.find('user', key.user)?.name ?? key.user;
  return compare(run, {
    ...{ kind: 'key', id: key.id, name: key.name, from: `${key.name} of ${owner}`, before },
    now: seenKey(key),
    amounts: ['limit'],
    async apply(differences, update) {
      const accountId = await keys.ownerOf(id);
      const here = accountId === undefined ? undefined : await keys.get(accountId, id);
      if (accountId === undefined || here === undefined) {
        for (const { field } of differences) update.conflict(field, 'the key was revoked here');
        return;
      }
      const own: Readonly<Record<string, Json>> = {
        ...{ name: here.name, enabled: here.enabled, limits: limitsJson(here.limits), expires: here.expiresMs ?? null },
        ...{ models: listOf(here.models), addresses: listOf(here.addresses), group: here.group ?? null },
      };
      const fields: string[] = [];
      for (const { field, was, is } of differences) {
        if (field === 'limit') continue;
        if (field === 'user' || field === 'secret')
          update.conflict(field, field === 'user' ? 'it belongs to another user there' : 'it has another secret there');
        else if (isSame(own[field], was)) fields.push(field);
        else if (isSame(own[field], is)) update.same(field);
        else update.conflict(field, CHANGED_HERE);
      }
      if (fields.length > 0)
        await orConflict(update, fields, async () => {
          const along = [...update.along(fields), ...run.audited('key.change', `key ${id}`, { fields })];
          if (!isDry) await keys.change(accountId, id, keyChanges(key, fields), along);
          update.applied(fields);
        });
      await shift(run, { kind: 'key', owner: id }, 'limit', key.id, differences, update, before);
    },
  });
}

function keyChanges(key: ForeignKey, fields: readonly string[]): KeyChanges {
  const { name, enabled, models = null, addresses = null, limits = null, expiresMs = null, group = null } = key;
  const all: Readonly<Record<string, KeyChanges>> = {
    name: { name },
    enabled: { enabled },
    models: { models },
    addresses: { addresses },
    limits: { limits: limits as readonly KeyLimit[] | null },
    expires: { expiresMs },
    group: { group },
  };
  return Object.assign({}, ...fields.map((field) => all[field])) as KeyChanges;
}

/** Things that are not there any more. With `--update`, they are disabled here: what was deleted there must not go on calling. */
export async function compareGone(
  run: Run,
  kind: 'user' | 'key',
  there: Iterable<{ readonly id: string }>,
): Promise<void> {
  const { imports, accounts, keys, isDry } = run;
  const gone = new Set(imports.ids(kind));
  for await (const { id } of unhurried(there)) gone.delete(id);
  for await (const id of unhurried(gone)) {
    const before = imports.find(kind, id)!;
    if (before.seen === undefined || before.seen.deleted === true) continue;
    let state: Pick<Change, 'state' | 'why'> = { state: 'told' };
    if (run.update === true) {
      const after = { ...before, seen: { ...before.seen, deleted: true }, revision: (before.revision ?? 0) + 1 };
      const along = [
        imports.changeStep(kind, id, before, after),
        ...run.audited(`${kind}.disable`, `${kind} ${before.ownId}`),
      ];
      const person = kind === 'user' ? await accounts.person(before.ownId) : undefined;
      const owner = kind === 'key' ? await keys.ownerOf(before.ownId) : undefined;
      if (person?.role === 'root') state = { state: 'conflict', why: 'it is the root account' };
      else {
        if (!isDry) {
          if (person !== undefined && person.deletedMs === undefined)
            await accounts.change(person.id, { enabled: false }, along);
          else if (owner !== undefined) await keys.change(owner, before.ownId, { enabled: false }, along);
          else await run.host.store.atomic(along);
        }
        imports.note(kind, id, after);
        state = { state: 'applied' };
      }
    }
    const changed = { kind: kind === 'user' ? 'account' : 'key', name: before.name } as const;
    const change: Change = { ...changed, field: 'deleted', was: 'there', is: 'deleted', ...state };
    run.changed.push(change);
    run.taken.push({
      ...{
        kind: changed.kind,
        from: before.name,
        to: `${changed.kind} ${nameHere(run, kind, before)}`,
        state: 'changed',
      },
      changes: [changeText(change)],
      ...(state.state === 'applied' && { updated: true as const }),
    });
  }
}

const CHANGED_HERE = 'it was changed here, too';

/** Moves a balance or a limit by its difference, once. */
async function shift(
  run: Run,
  layer: BalanceLayer,
  field: string,
  foreignId: string,
  differences: readonly Difference[],
  update: Updating,
  { revision = 0 }: Imported,
): Promise<void> {
  const { ledger, family, isDry } = run;
  const difference = differences.find((each) => each.field === field);
  if (difference === undefined) return;
  const { was, is } = difference;
  await orConflict(update, [field], async () => {
    const here = await ledger.balance(layer);
    if (here === undefined) return update.conflict(field, 'there is no balance here');
    if (here.unlimited !== (was === null)) return update.conflict(field, CHANGED_HERE);
    // Above the largest amount, only that was imported.
    const by =
      typeof was === 'string' && typeof is === 'string' ? creditable(BigInt(is)) - creditable(BigInt(was)) : 0n;
    if (creditable(by) !== by) return update.conflict(field, 'the difference is above the largest amount here');
    if (!isDry) {
      const along = [...update.along([field]), ...run.audited(`${layer.kind}.quota`, `${layer.kind} ${layer.owner}`)];
      if (typeof was === 'string' && typeof is === 'string') {
        const ref = refOf(family, field, `${foreignId}:${revision + 1}`);
        // The name of a deduction says so.
        await ledger.shift(layer, by, by < 0n ? `deducted:${ref}` : ref, 'import', along);
      } else {
        const available = typeof is === 'string' ? BigInt(is) : undefined;
        await ledger.setAvailable(layer, available !== undefined && available < 0n ? 0n : available, 'import', along);
      }
    }
    update.applied([field]);
  });
}

/** A refusal is told with the fields that it is about. */
export async function orConflict(
  update: Updating,
  fields: readonly string[],
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    for (const field of fields) update.conflict(field, error.message);
  }
}

/** The value that is stored here for one that is not given. */
function usualOf(field: string, value: Json): Json {
  if (field === 'group') return value ?? 'default';
  return field === 'role' && value === 'root' ? 'admin' : value;
}

const listOf = (list: readonly string[] | undefined): Json => (list === undefined ? null : [...list]);

/** `balance 5, was 3`. */
export function changeText({ field, was, is, state, why }: Change): string {
  const told =
    field === 'deleted'
      ? 'deleted there'
      : isOfSignIn(field)
        ? signInText(field, was, is)
        : `${field} ${is}, was ${was}`;
  return state === 'conflict' && why !== undefined ? `${told} (not applied: ${why})` : told;
}

const quotaText = (value: Json): string => (typeof value === 'string' ? inQuota(BigInt(value)) : 'unlimited');

function textOf(value: Json): string {
  if (value === null) return 'none';
  return typeof value === 'string' ? value : Array.isArray(value) ? value.map(textOf).join(' ') : JSON.stringify(value);
}
