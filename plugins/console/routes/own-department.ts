/** The budgets that one's own calls are paid under: those of one's department, and of those above it. */
import { Departments } from '../../../core/contracts/departments.ts';
import { type Balance, Ledger } from '../../../core/contracts/ledger.ts';
import { budgetUse, monthOf } from '../records/department.ts';
import { PPM } from '../records/department-form.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { integer, list, number, text } from '../schemas.ts';
import { secondsOf } from '../units.ts';

/** The rows. */
export function ownDepartmentRoutes({ host }: Tools): readonly ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/user/department',
      who: 'member',
      summary: 'The own department and those above it, with the budgets that bound what one may use.',
      tag: 'Departments',
      answer: {
        ...list({
          name: text,
          status: { enum: [0, 1], description: '1 enabled; 0 disabled: calls are refused.' },
          ratio: { ...number, description: 'What calls of its people cost: 1 is the price. The first one counts.' },
          budgets: list({
            window: { enum: ['total', 'month'], description: 'In all, or in a calendar month (UTC).' },
            limit: { ...integer, description: 'Quota units.' },
            used: { ...integer, description: 'By all its people and those below, together.' },
            remaining: { ...integer, description: 'Less what running calls hold.' },
            resets_at: { type: ['integer', 'null'], description: 'Unix seconds; null: never.' },
          }),
        }),
        description: 'From the own department up to the top; empty for whoever is in none.',
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
