/** Who is in a department: `/api/department/:id/members`. */
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { schema } from '../../../core/plugin.ts';
import { inTheirWords } from '../envelope.ts';
import { errors } from '../errors.ts';
import { type PageSearch, pageOf, pageSearch } from '../pages.ts';
import { departmentAt, listed } from '../records/department.ts';
import { DEPARTMENT_WORDS } from '../records/department-form.ts';
import { shownUsers, userSchema } from '../records/user.ts';
import { type ApiRoute, type ConsoleRequest, idOf, route, type Tools } from '../route.ts';
import { idNumber, integer, nothing } from '../schemas.ts';
import { subordinate } from '../subordinate.ts';

const TAG = 'Departments';
/** People moved by one request. */
const MOST_PEOPLE = 100;

/** The rows. */
export function departmentMemberRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, need, audited } = tools;

  async function move(request: ConsoleRequest<{ readonly user_ids: readonly number[] }>): Promise<number> {
    const { id } = departmentAt(tools, request.params.id);
    const ids = [...new Set(request.body.user_ids)];
    // Whoever pays less in a department cannot be their own benefactor.
    for (const account of ids) await subordinate(host, request.account, account);
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
    await subordinate(host, request.account, person);
    await need(Departments).place(
      person,
      null,
      audited(request, 'department.leave', `user ${person}`, { department: id }),
    );
  }

  return [
    route<unknown, PageSearch>({
      method: 'GET',
      path: '/api/department/:id/members',
      who: 'admin',
      spelling: 'bare',
      errors: ['department_not_found'],
      summary: 'Its people, and those of the departments below.',
      tag: TAG,
      search: pageSearch<PageSearch>(),
      answer: listed(userSchema),
      async handle(request) {
        const departments = need(Departments);
        const top = departmentAt(tools, request.params.id);
        const page = pageOf(request.asked);
        const ids = [top, ...departments.below(top.id)]
          .flatMap((department) => departments.members(department.id))
          .sort((a, b) => a - b);
        const some = ids.slice(page.offset, page.offset + page.pageSize);
        const accounts = host.use(Accounts);
        const people = (await Promise.all(some.map((id) => accounts.person(id)))).filter((one) => one !== undefined);
        return { success: true, message: '', data: await shownUsers(host, people), total: ids.length };
      },
    }),
    route({
      method: 'POST',
      path: '/api/department/:id/members',
      who: 'admin',
      verified: true,
      errors: ['department_not_found', 'account_not_found'],
      summary: 'Puts people into a department, out of the one they were in; all of them or none. How many.',
      tag: TAG,
      body: schema<{ readonly user_ids: readonly number[] }>({
        type: 'object',
        additionalProperties: false,
        required: ['user_ids'],
        properties: {
          user_ids: {
            description: 'Accounts with a role below your own.',
            type: 'array',
            minItems: 1,
            maxItems: MOST_PEOPLE,
            items: idNumber,
          },
        },
      }),
      answer: integer,
      handle: move,
    }),
    route({
      method: 'DELETE',
      path: '/api/department/:id/members/:user_id',
      who: 'admin',
      verified: true,
      errors: ['department_not_found', 'member_not_found'],
      summary: 'Takes somebody out of a department.',
      tag: TAG,
      answer: nothing,
      handle: moveOut,
    }),
  ];
}
