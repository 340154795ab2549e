/** Takes over users: each account is written in one list with its balance or debt, its department, and how its user signs in. */
import type { Account } from '../../../core/contracts/identity.ts';
import { inQuota } from '../../../core/contracts/ledger.ts';
import type { GatewayError, Step } from '../../../core/plugin.ts';
import type { ForeignUser, Note } from '../inventory.ts';
import type { Planned } from '../planned.ts';
import { unhurried } from '../unhurried.ts';
import { compareUser } from './changes.ts';
import { identitySteps } from './identities.ts';
import { writeInLists } from './lists.ts';
import { hasCode, leftThing, namesFor, orNote, type Run, refOf } from './run.ts';
import { isOtherUser, seenUser } from './seen.ts';
import { creditable } from './sums.ts';

/** Creates the accounts of new users, and compares the others. Returns the users whose identifier is that of another one here. */
export async function takeUsers(run: Run, users: readonly ForeignUser[]): Promise<ReadonlySet<string>> {
  const strangers = new Set<string>();
  const root = await rootOf(run);
  const known: ForeignUser[] = [];
  const fresh: ForeignUser[] = [];
  for await (const user of unhurried(users)) {
    const before = run.imports.find('user', user.id);
    if (before === undefined) fresh.push(user);
    else if (isOtherUser(user, before)) {
      strangers.add(user.id);
      const why = `its identifier was imported before as "${before.name}", and neither its password nor its address nor its code is the same: this is another database`;
      run.notes.push(leftThing(`user ${user.name}`, why));
    } else known.push(user);
  }
  try {
    await writeInLists(run, fresh, (user) =>
      orNote(run, `user ${user.name}`, async () =>
        run.imports.find('user', user.id) === undefined ? planUser(run, user, root) : undefined,
      ),
    );
  } finally {
    if (!run.isDry && fresh.some(({ department }) => department !== undefined)) await run.departments.changed();
  }
  if (known.length > 0 && run.isRehearsal !== true) await readAccountNames(run);
  for await (const user of unhurried(known))
    await orNote(run, `user ${user.name}`, async () => {
      const before = run.imports.find('user', user.id);
      if (before !== undefined) await compareUser(run, user, before);
    });
  return strangers;
}

/** Accounts of one query. */
const PAGE = 1_000;

async function readAccountNames({ accounts, accountNames }: Run): Promise<void> {
  for (let before: number | undefined; ; ) {
    const below = before === undefined ? {} : { before };
    const { items } = await accounts.search({ ...below, deleted: 'also', offset: 0, limit: PAGE });
    for (const { id, name } of items) accountNames.set(id, name);
    if (items.length < PAGE) return;
    before = items.at(-1)!.id;
  }
}

async function rootOf({ accounts }: Run): Promise<Account | undefined> {
  return (await accounts.search({ role: 'root', offset: 0, limit: 1 })).items[0];
}

async function planUser(run: Run, user: ForeignUser, root: Account | undefined): Promise<Planned | undefined> {
  const { imports, departments, host } = run;
  const notes: Note[] = [];
  const what = `user ${user.name}`;
  const home = user.department === undefined ? undefined : imports.find('department', user.department);
  if (user.department !== undefined && home === undefined) {
    // Without it, the price or the budget would be another one.
    run.notes.push(leftThing(what, 'the department was not imported'));
    return undefined;
  }
  const isRoot = user.role === 'root' && root !== undefined;
  const made = isRoot ? { account: root, steps: [], email: undefined } : await createAccount(run, user, notes);
  const { account, steps, email } = made;
  const money = await moneySteps(run, user, account.id, isRoot, notes);
  // Without an address that was refused: no link can be sent to it.
  const identity = await identitySteps(host, account.id, { ...user, email });
  const to = [
    `account ${account.name}, ${account.role}`,
    user.balance !== undefined && user.balance < 0n && !isRoot
      ? `debt ${inQuota(-user.balance)}`
      : `balance ${user.balance === undefined || isRoot ? 'unlimited' : inQuota(user.balance)}`,
    ...(home === undefined ? [] : [`department ${home.name}`]),
    ...identity.told,
    ...(user.enabled || isRoot ? [] : ['disabled']),
  ].join(', ');
  return {
    kind: 'user',
    id: user.id,
    name: user.name,
    ownId: account.id,
    seen: seenUser(user),
    from: user.name,
    to,
    notes: [...notes, ...identity.notes],
    steps: [
      ...steps,
      ...money,
      ...(home === undefined ? [] : departments.placeSteps(account.id, home.ownId)),
      ...identity.steps,
      ...(isRoot ? [] : run.audited('user.create', `user ${account.id}`, { role: account.role })),
    ],
  };
}

/** A new account under the name of the user, or with the name of the other gateway behind it if that is taken. */
async function createAccount(
  run: Run,
  user: ForeignUser,
  notes: Note[],
): Promise<{ readonly account: Account; readonly steps: readonly Step[]; readonly email: string | undefined }> {
  const plan = await run.accountPlan();
  const { displayName, group, remark, balance } = user;
  let { email } = user;
  let refusal: GatewayError | undefined;
  for (const name of namesFor(user.name, run.kind)) {
    // Again without an address that cannot be had.
    for (let tries = 0; tries < 2; tries++) {
      try {
        const made = plan.create({
          name,
          role: user.role === 'member' ? 'member' : 'admin',
          ...(displayName !== undefined && { displayName }),
          email,
          group,
          remark,
          enabled: user.enabled,
          opening: balance === undefined ? 'unlimited' : 'empty',
        });
        if (name !== user.name)
          notes.push({
            kind: 'changed',
            where: 'users',
            what: `user ${user.name}`,
            why: `the name is taken here, or looks like one that is: the account is ${name}`,
          });
        return { ...made, email };
      } catch (error) {
        if (hasCode(error, 'invalid_email', 'email_taken')) {
          const why = error.code === 'email_taken' ? 'another account has it' : error.message;
          notes.push(leftThing(`email address of ${user.name}`, why));
          email = undefined;
          continue;
        }
        if (!hasCode(error, 'name_taken')) throw error;
        refusal = error;
        break;
      }
    }
  }
  throw refusal!;
}

/** The steps that credit the balance of a user, or note the debt. */
async function moneySteps(
  run: Run,
  { id, name, balance }: ForeignUser,
  accountId: number,
  isRoot: boolean,
  notes: Note[],
): Promise<readonly Step[]> {
  const { ledger, family, isDry } = run;
  if (balance === undefined || balance === 0n) return [];
  if (balance < 0n) {
    const debt = creditable(-balance);
    if (debt < -balance)
      notes.push(leftThing(`debt of ${name}`, `it is above the maximum: ${inQuota(debt)} quota are owed`));
    // Leases are returned for it, which a dry run does not need.
    return isRoot || isDry ? [] : ledger.takeBackSteps(accountId, debt, refOf(family, 'debt', id), 'import');
  }
  const amount = creditable(balance);
  if (amount < balance)
    notes.push(leftThing(`balance of ${name}`, `it is above the maximum: ${inQuota(amount)} quota were credited`));
  return [
    ...ledger.creditSteps(accountId, amount, refOf(family, 'user', id), 'import'),
    ...run.audited('user.quota', `user ${accountId}`, { mode: 'add', value: inQuota(amount) }),
  ];
}
