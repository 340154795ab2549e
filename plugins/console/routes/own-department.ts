/** The budgets of the user's department, and of those above it, which limit the user's calls. */
import { Departments } from '../../../core/contracts/departments.ts';
import { type Balance, Ledger } from '../../../core/contracts/ledger.ts';
import { budgetUse, monthOf } from '../records/department.ts';
import { PPM } from '../records/department-form.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { integer, list, number, text } from '../schemas.ts';
import { secondsOf } from '../units.ts';

export function ownDepartmentRoutes({ host }: Tools): readonly ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/user/department',
      who: 'member',
      summary: 'Lists your department and those above it, with the budgets that limit your calls.',
      tag: 'Departments',
      answer: {
        ...list({
          name: text,
          status: { enum: [0, 1], description: '1 enabled; 0 disabled: calls are refused.' },
          ratio: {
            ...number,
            description:
              "Price factor of calls by its members: 1 is the full price. The first department's factor applies.",
          },
          budgets: list({
            window: { enum: ['total', 'month'], description: 'Total, or per calendar month (UTC).' },
            limit: { ...integer, description: 'Quota units.' },
            used: { ...integer, description: 'Used by all members, those of departments below included.' },
            remaining: { ...integer, description: 'Less the reservations of running calls.' },
            resets_at: { type: ['integer', 'null'], description: 'Unix seconds; null: never.' },
          }),
        }),
        description: 'From your department to the top; empty if you are in none.',
      },
      async handle({ account: { id } }) {
        const path = host.find(Departments)?.pathOf(id) ?? [];
        const ids = path.map((department) => department.id);
        const { startMs, endMs } = monthOf(host.clock.now());
        const totals = await host.find(Ledger)?.balances('department', ids);
        const months = await host.find(Ledger)?.balances('department-month', ids, startMs);
        const line = (window: 'total' | 'month', limit: bigint | undefined, balance: Balance | undefined) =>
          limit === undefined
            ? []
            : [{ window, ...budgetUse(limit, balance), resets_at: window === 'month' ? secondsOf(endMs) : null }];
        return path.map((department) => ({
          name: department.name,
          status: department.enabled ? 1 : 0,
          ratio: department.factorPpm / PPM,
          budgets: [
            ...line('month', department.monthlyBudget, months?.get(department.id)),
            ...line('total', department.budget, totals?.get(department.id)),
          ],
        }));
      },
    }),
  ];
}
