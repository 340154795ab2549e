/** `POST /api/user/manage`: enables, disables or deletes an account, changes its role or balance. */

import { Accounts, type Person } from '../../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { Role } from '../../../../core/contracts/identity.ts';
import { type BalanceChange, Ledger } from '../../../../core/contracts/ledger.ts';
import { Records } from '../../../../core/contracts/records.ts';
import type { JsonObject, Step } from '../../../../core/plugin.ts';
import { roleNumber } from '../../access/guards.ts';
import { personWith, removeAccount, subordinate } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { type Accepted, bodyOf, idNumber, object } from '../../format/schemas.ts';
import { MOST_UNITS, microOf, unitsAbove, unitsOf } from '../../format/units.ts';
import { quotaOf } from '../../records/keys/key.ts';
import { statusOf } from '../../records/people/user.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Users');

const manage = {
  title: 'UserAction',
  ...bodyOf(['id', 'action'], {
    id: idNumber,
    action: {
      enum: ['enable', 'disable', 'delete', 'promote', 'demote', 'add_quota'],
      description: '`delete`, roles and quota require a verification (POST /api/verify); only root changes roles.',
    },
    value: {
      description: 'Required for add_quota: quota units; 0 only to override.',
      type: 'integer',
      minimum: 0,
      maximum: MOST_UNITS,
    },
    mode: {
      enum: ['add', 'subtract', 'override'],
      description:
        'For add_quota: add to the balance, subtract (never below zero), or override it. Default: add. What running calls hold cannot be taken at once: it is owed, and paid when they end.',
    },
    reason: { description: 'The reason, for the audit log.', type: 'string', maxLength: 200 },
  }),
};
type Manage = Accepted<typeof manage>;

export function userManageRoutes({ host, verification, need, audited }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);

  function told(request: ConsoleRequest<Manage>, action: string, id: number, facts: JsonObject = {}): readonly Step[] {
    const { reason = '' } = request.body;
    return audited(request, action, `user ${id}`, { ...facts, ...(reason !== '' && { reason }) });
  }

  async function enable(request: ConsoleRequest<Manage>, { id, role }: Person, enabled: boolean): Promise<void> {
    if (role === 'root' && !enabled) throw errors.root_protected('Root cannot be disabled.');
    // This also ends its sessions.
    await accounts.change(id, { enabled }, told(request, enabled ? 'user.enable' : 'user.disable', id));
  }

  async function setRole(request: ConsoleRequest<Manage>, { id, name, role }: Person, to: Role): Promise<void> {
    if (request.account.role !== 'root') throw errors.role_insufficient('Only root can change roles.');
    if (role === 'root') throw errors.root_protected('The role of root cannot be changed.');
    verification.demand(request);
    if (role === to) throw errors.role_unchanged(name);
    await accounts.change(id, { role: to }, told(request, 'user.role', id, { from: role, to }));
  }

  /** Undefined: nothing was taken. */
  async function setQuota(request: ConsoleRequest<Manage>, { id, name }: Person): Promise<BalanceChange | undefined> {
    verification.demand(request);
    const { value, mode = 'add' } = request.body;
    const ledger = need(Ledger);
    if (value === undefined || (value === 0 && mode !== 'override')) {
      throw coreErrors
        .invalid_amount('`value` must be a whole number of quota units above zero.')
        .with({ param: 'value' });
    }
    const amount = microOf(value);
    const layer = { kind: 'account', owner: id } as const;
    const key = request.headers['idempotency-key'];
    const ref = key === undefined ? `manage:${request.id}` : `manage:${request.account.id}:${key}`;
    // The ledger knows the reference longer than the answer is kept: money never moves twice for it.
    const refs = [ref, `deducted:${ref}`, `set:${ref}`];
    for (const each of key === undefined ? [] : refs) {
      if ((await ledger.entriesOf(each)).length > 0) throw errors.answer_not_kept();
    }
    const actor = request.actor.name;
    const audit = (facts: JsonObject): readonly Step[] => told(request, 'user.quota', id, { mode, value, ...facts });
    const event = (moved: bigint, text: string): readonly Step[] =>
      host.find(Records)?.eventSteps({ accountId: id, kind: 'manage', amount: moved, text, ip: '' }) ?? [];

    if (mode === 'add') {
      await ledger.credit(layer, amount, ref, actor, [
        ...audit({}),
        ...event(amount, `An administrator credited ${value} quota.`),
      ]);
    } else if (mode === 'subtract') {
      if ((await ledger.balance(layer))?.unlimited === true) {
        const taken = await ledger.deduct(id, amount, ref, actor, audit({}));
        const steps = event(-taken, `An administrator deducted ${unitsOf(taken)} quota.`);
        if (taken > 0n && steps.length > 0) await host.store.atomic(steps);
        return undefined;
      }
      const least = (balance: bigint): bigint => (balance < 0n ? balance : 0n);
      const to = (balance: bigint): bigint => (balance > amount ? balance - amount : least(balance));
      return ledger.setBalance(id, to, `deducted:${ref}`, actor, (change) => [
        ...audit(factsOf(change)),
        ...event(
          change.is - change.was,
          `An administrator deducted ${unitsOf(change.was - change.is)} quota${laterOf(change)}.`,
        ),
      ]);
    } else {
      const balance = await ledger.balance(layer);
      if (balance?.unlimited === true) {
        throw coreErrors.unlimited(`"${name}" is unlimited: there is no balance to set.`);
      }
      return ledger.setBalance(
        id,
        () => amount,
        `set:${ref}`,
        actor,
        (change) => [
          ...audit(factsOf(change)),
          ...event(0n, `An administrator set the balance to ${value} quota${laterOf(change)}.`),
        ],
      );
    }
    return undefined;
  }

  async function run(request: ConsoleRequest<Manage>, person: Person): Promise<BalanceChange | undefined | undefined> {
    switch (request.body.action) {
      case 'enable':
        await enable(request, person, true);
        return undefined;
      case 'disable':
        await enable(request, person, false);
        return undefined;
      case 'promote':
        await setRole(request, person, 'admin');
        return undefined;
      case 'demote':
        await setRole(request, person, 'member');
        return undefined;
      case 'add_quota':
        return setQuota(request, person);
      case 'delete':
        if (person.role === 'root') throw errors.root_protected('Root cannot be deleted.');
        verification.demand(request);
        await removeAccount(host, person.id, told(request, 'user.delete', person.id, { username: person.name }));
        return undefined;
    }
  }

  return [
    route('admin', 'POST', '/api/user/manage', {
      errors: [
        'last_root',
        'role_insufficient',
        'account_not_found',
        'root_protected',
        'role_unchanged',
        'invalid_amount',
        'unlimited',
        'no_room',
        'lease_not_returned',
      ],
      summary: 'Enables, disables or deletes an account, or changes its role or balance.',
      body: manage,
      answer: object({
        role: { enum: [1, 10, 100] },
        status: { enum: [1, 2] },
        quota: { description: 'The new balance in quota units.', type: 'integer' },
        taken_quota: { description: 'Taken from the balance at once; below zero: added to it.', type: 'integer' },
        held_quota: { description: 'Reserved for running calls: it cannot be taken at once.', type: 'integer' },
        debt: {
          description: 'Owed: it is paid as soon as running calls return what they do not cost, or by the next credit.',
          type: 'integer',
        },
      }),
      async handle(request) {
        const { id } = request.body;
        const change = await run(request, await subordinate(host, request.account, id));
        const person = await personWith(host, id);
        const balance = await host.find(Ledger)?.balance({ kind: 'account', owner: id });
        const { remain, held, debt } = quotaOf(balance);
        return {
          role: roleNumber(person.role),
          status: statusOf(person),
          quota: remain,
          taken_quota: change ? unitsOf(change.taken) : 0,
          held_quota: held,
          debt,
        };
      },
    }),
  ];
}

/** For the audit log: what was taken, what running calls hold, and what is owed, in quota units. */
function factsOf({ was, taken, held, owed }: BalanceChange): JsonObject {
  return { was: unitsOf(was), taken: unitsOf(taken), held: unitsOf(held), owed: unitsAbove(owed) };
}

/** For the user: what could not be taken at once. */
function laterOf({ owed }: BalanceChange): string {
  return owed > 0n ? `; ${unitsAbove(owed)} of it are owed until running calls end` : '';
}
