/** Takes over keys, with their secrets where those can be used here. */
import { limitsText } from '../../../core/contracts/key-limits.ts';
import type { NewKey } from '../../../core/contracts/keys.ts';
import { inQuota } from '../../../core/contracts/ledger.ts';
import { canonicalRange } from '../../../core/sdk.ts';
import type { ForeignKey, Note } from '../inventory.ts';
import { marked, type Things } from '../packed.ts';
import type { Planned } from '../planned.ts';
import type { Imported } from '../tables.ts';
import { unhurried } from '../unhurried.ts';
import { compareKey } from './changes.ts';
import { writeInLists } from './lists.ts';
import { leftThing, orNote, type Run } from './run.ts';
import { isOtherKey, seenKey } from './seen.ts';

/** Marks of keys: new, or imported before. */
const FRESH = 1;
const KNOWN = 2;

/** Creates new keys, and compares the others. `strangers`: users whose keys must not become keys of the account with their identifier. */
export async function takeKeys(
  run: Run,
  keys: Things<ForeignKey>,
  users: ReadonlyMap<string, { readonly email?: string | undefined }>,
  strangers: ReadonlySet<string>,
): Promise<void> {
  const marks = new Uint8Array(keys.length);
  let place = 0;
  for await (const key of unhurried(keys)) {
    const before = strangers.has(key.user) ? undefined : run.imports.find('key', key.id);
    const at = place++;
    if (before === undefined) marks[at] = FRESH;
    else if (isOtherKey(key, before))
      run.notes.push(
        leftThing(`key ${key.name}`, `its identifier was imported before with another secret, as "${before.name}"`),
      );
    else marks[at] = KNOWN;
  }
  await writeInLists(run, marked(keys, marks, FRESH), (key) =>
    orNote(run, `key ${key.name}`, async () => {
      const owner = strangers.has(key.user) ? undefined : run.imports.find('user', key.user);
      if (owner === undefined) {
        run.notes.push(leftThing(`key ${key.name}`, 'its owner was not imported'));
        return undefined;
      }
      if (run.imports.find('key', key.id) !== undefined) return undefined;
      return planKey(run, key, owner, users.get(key.user)?.email);
    }),
  );
  for await (const key of unhurried(marked(keys, marks, KNOWN)))
    await orNote(run, `key ${key.name}`, async () => {
      const before = run.imports.find('key', key.id);
      if (before !== undefined) await compareKey(run, withUsableAddresses(key, []), before);
    });
}

async function planKey(
  run: Run,
  given: ForeignKey,
  owner: Imported,
  email: string | undefined,
): Promise<Planned | undefined> {
  const plan = await run.keyPlan();
  const notes: Note[] = [];
  const key = withUsableAddresses(given, notes);
  const { name, allowance, limits, models, addresses, expiresMs, group, enabled, secret } = key;
  const newKey: NewKey = {
    ...{ accountId: owner.ownId, name, allowance, limits, models, addresses, expiresMs, group, enabled },
  };
  const created = secret === undefined ? plan.create(newKey) : undefined;
  const made = created ?? plan.adopt(newKey, secret!);
  const handedOut = created?.secret;
  if (made === undefined) {
    run.notes.push(leftThing(`key ${name}`, 'there is, or was, a key with this secret here'));
    return undefined;
  }
  const { id } = made.key;
  return {
    kind: 'key',
    id: key.id,
    name,
    ownId: id,
    seen: seenKey(key),
    from: `${name} of ${owner.name}`,
    to: textOf(key),
    notes,
    handout:
      handedOut === undefined ? undefined : { account: owner.name, email, what: `new key ${name}`, secret: handedOut },
    steps: [...made.steps, ...run.audited('key.create', `key ${id}`)],
  };
}

/** What a new key is here. */
function textOf({ secret, allowance, limits, group, models, addresses, expiresMs, enabled }: ForeignKey): string {
  return [
    secret === undefined ? 'a new key' : 'the same key',
    `limit ${allowance === undefined ? 'none' : inQuota(allowance)}`,
    ...(limits === undefined ? [] : [`limits ${limitsText(limits)}`]),
    ...(group === undefined ? [] : [`group ${group}`]),
    ...(models === undefined ? [] : [`models ${models.join(' ')}`]),
    ...(addresses === undefined ? [] : [`addresses ${addresses.join(' ')}`]),
    ...(expiresMs === undefined ? [] : [`expires ${new Date(expiresMs).toISOString()}`]),
    ...(enabled ? [] : ['disabled']),
  ].join(', ');
}

/** A key whose list has only addresses that exist. If none is left, it would not be restricted any more, so it is disabled. */
function withUsableAddresses(key: ForeignKey, notes: Note[]): ForeignKey {
  if (key.addresses === undefined) return key;
  const usable = key.addresses.filter((address) => !('problem' in canonicalRange(address)));
  if (usable.length === key.addresses.length && usable.length > 0) return key;
  const odd = key.addresses.filter((address) => !usable.includes(address)).join(' ');
  const isOff = usable.length === 0;
  notes.push({
    kind: isOff ? 'decide' : 'changed',
    where: 'keys',
    what: `key ${key.name}`,
    why: isOff
      ? `it is disabled, because its list has no address or network: ${odd || 'it is empty'}`
      : `these are no addresses or networks, and were left out of its list: ${odd}`,
  });
  return { ...key, addresses: isOff ? undefined : usable, enabled: key.enabled && !isOff };
}
