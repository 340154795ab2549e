/** The members of a department: `/api/department/:id/members`. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { Departments } from '../../../../core/contracts/departments.ts';
import { subordinate } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { inTheirWords } from '../../format/envelope.ts';
import { type PageSearch, pageOf, pageSearch } from '../../format/paging.ts';
import { bodyOf, idNumber, integer, nothing } from '../../format/schemas.ts';
import { departmentAt, listed } from '../../records/people/department.ts';
import { DEPARTMENT_WORDS } from '../../records/people/department-form.ts';
import { shownUsers, userSchema } from '../../records/people/user.ts';
import { type ApiRoute, type ConsoleRequest, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Departments');
/** Users per request. */
const MOST_PEOPLE = 100;

export function departmentMemberRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, need, audited } = tools;

  async function move(request: ConsoleRequest<{ readonly user_ids: readonly number[] }>): Promise<number> {
    const { id } = departmentAt(tools, request.params.id);
    const ids = [...new Set(request.body.user_ids)];
    // A lower price factor is money: administrators may not move themselves to another department.
    for (const account of ids) await subordinate(host, request.account, account, 'user_ids');
    const steps = ids.flatMap((account) => audited(request, 'department.join', `user ${account}`, { department: id }));
    await inTheirWords(DEPARTMENT_WORDS, need(Departments).placeAll(ids, id, steps));
    return ids.length;
  }

  async function moveOut(request: ConsoleRequest): Promise<void> {
    const { id } = departmentAt(tools, request.params.id);
    const person = idOf(request.params.user_id);
    if (need(Departments).departmentOf(person)?.id !== id) {
      throw errors.member_not_found();
    }
    await subordinate(host, request.account, person, 'user_id');
    await need(Departments).place(
      person,
      null,
      audited(request, 'department.leave', `user ${person}`, { department: id }),
    );
  }

  return [
    route<unknown, PageSearch>('admin', 'GET', '/api/department/:id/members', {
      spelling: 'bare',
      errors: ['department_not_found'],
      summary: 'Lists the members of the department and of those below it.',
      search: pageSearch({}),
      answer: listed(userSchema),
      async handle(request) {
        const departments = need(Departments);
        const top = departmentAt(tools, request.params.id);
        const page = pageOf(request.query);
        const ids = [top, ...departments.below(top.id)]
          .flatMap((department) => departments.members(department.id))
          .sort((a, b) => a - b);
        const pageIds = ids.slice(page.offset, page.offset + page.pageSize);
        const accounts = host.use(Accounts);
        const people = (await Promise.all(pageIds.map((id) => accounts.person(id)))).filter(
          (each) => each !== undefined,
        );
        return { success: true, message: '', data: await shownUsers(host, people), total: ids.length };
      },
    }),
    route('admin', 'POST', '/api/department/:id/members', {
      verified: true,
      errors: ['department_not_found', 'account_not_found'],
      summary: 'Moves users into a department, all or none; returns their number.',
      body: bodyOf(['user_ids'], {
        user_ids: {
          description: 'Users with a role below yours.',
          type: 'array',
          minItems: 1,
          maxItems: MOST_PEOPLE,
          items: idNumber,
        },
      }),
      answer: integer,
      handle: move,
    }),
    route('admin', 'DELETE', '/api/department/:id/members/:user_id', {
      verified: true,
      errors: ['department_not_found', 'member_not_found'],
      summary: 'Removes a user from a department.',
      answer: nothing,
      handle: moveOut,
    }),
  ];
}
