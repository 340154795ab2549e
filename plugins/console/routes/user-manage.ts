/** `POST /api/user/manage`: enables, disables or deletes an account, changes its role or balance. */
import { Accounts, type Person, type Role } from '../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { Records } from '../../../core/contracts/records.ts';
import type { JsonObject, Step } from '../../../core/plugin.ts';
import { roleNumber } from '../access.ts';
import { errors } from '../errors.ts';
import { quotaOf } from '../records/key.ts';
import { statusOf } from '../records/user.ts';
import { type ApiRoute, type ConsoleRequest, type Tools, tagged } from '../route.ts';
import { type Accepted, bodyOf, idNumber, object } from '../schemas.ts';
import { personWith, removeAccount, subordinate } from '../subordinate.ts';
import { MOST_UNITS, microOf, unitsOf } from '../units.ts';

const route = tagged('Users');

const manage = {
  title: 'UserAction',
  ...bodyOf(['id', 'action'], {
    id: idNumber,
    action: {
      enum: ['enable', 'disable', 'delete', 'promote', 'demote', 'add_quota'],
      description: '`delete`, roles and quota require a verification (POST /api/verify); only root changes roles.',
    },
    value: { description: 'For add_quota: quota units.', type: 'integer', minimum: 0, maximum: MOST_UNITS },
    mode: {
      enum: ['add', 'subtract', 'override'],
      description: 'For add_quota: add to the balance, subtract (never below zero), or override it. Default: add.',
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

  async function setQuota(request: ConsoleRequest<Manage>, { id, name }: Person): Promise<void> {
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
    const ref = `manage:${request.id}`;
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
      const taken = await ledger.deduct(id, amount, ref, actor, audit({}));
      const steps = event(-taken, `An administrator deducted ${unitsOf(taken)} quota.`);
      if (taken > 0n && steps.length > 0) await host.store.atomic(steps);
    } else {
      const balance = await ledger.balance(layer);
      if (balance?.unlimited === true) {
        throw coreErrors.unlimited(`"${name}" is unlimited: there is no balance to set.`);
      }
      const debt = await ledger.debt(id);
      if (debt > 0n) {
        throw errors.in_debt(name, unitsOf(debt));
      }
      await ledger.setAvailable(layer, amount, actor, [
        ...audit({ was: quotaOf(balance).remain }),
        ...event(0n, `An administrator set the balance to ${value} quota.`),
      ]);
    }
  }

  async function run(request: ConsoleRequest<Manage>, person: Person): Promise<void> {
    switch (request.body.action) {
      case 'enable':
        return enable(request, person, true);
      case 'disable':
        return enable(request, person, false);
      case 'promote':
        return setRole(request, person, 'admin');
      case 'demote':
        return setRole(request, person, 'member');
      case 'add_quota':
        return setQuota(request, person);
      case 'delete':
        if (person.role === 'root') throw errors.root_protected('Root cannot be deleted.');
        verification.demand(request);
        return removeAccount(host, person.id, told(request, 'user.delete', person.id, { username: person.name }));
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
        'in_debt',
        'no_room',
        'lease_not_returned',
      ],
      summary: 'Enables, disables or deletes an account, or changes its role or balance.',
      body: manage,
      answer: object({
        role: { enum: [1, 10, 100] },
        status: { enum: [1, 2] },
        quota: { description: 'The new balance in quota units.', type: 'integer' },
      }),
      async handle(request) {
        const { id } = request.body;
        await run(request, await subordinate(host, request.account, id));
        const person = await personWith(host, id);
        const balance = await host.find(Ledger)?.balance({ kind: 'account', owner: id });
        return { role: roleNumber(person.role), status: statusOf(person), quota: quotaOf(balance).remain };
      },
    }),
  ];
}
