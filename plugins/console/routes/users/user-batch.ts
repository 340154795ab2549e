/** `POST /api/user/batch`: one action on several users. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { GROUP_NAME } from '../../../../core/contracts/groups.ts';
import { removeAccount, subordinate } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { bodyOf, idNumber, integer } from '../../format/schemas.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Users');
/** Users per request. */
const MOST_USERS = 100;

const batch = bodyOf(['ids', 'action'], {
  ids: {
    type: 'array',
    minItems: 1,
    maxItems: MOST_USERS,
    items: idNumber,
    description: 'Users with a role below yours.',
  },
  action: {
    enum: ['enable', 'disable', 'delete', 'set_group'],
    description: '`delete` requires a verification (POST /api/verify).',
  },
  group: { type: 'string', pattern: GROUP_NAME, description: 'For set_group.' },
  reason: { description: 'The reason, for the audit log.', type: 'string', maxLength: 200 },
});

export function userBatchRoutes({ host, verification, audited }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  return [
    route('admin', 'POST', '/api/user/batch', {
      errors: [
        'verification_required',
        'role_insufficient',
        'root_protected',
        'account_not_found',
        'invalid_request_error',
        'last_root',
      ],
      summary:
        'Enables, disables or deletes several users, or sets their group; returns their number. To disable or delete them needs a verification (POST /api/verify). If one of them cannot be changed, none is.',
      body: batch,
      answer: integer,
      async handle(request) {
        const { ids, action, group, reason = '' } = request.body;
        // A stolen access token must not be enough to lock out a hundred users.
        if (action === 'delete' || action === 'disable') verification.demand(request);
        if (action === 'set_group' && group === undefined) {
          throw coreErrors.invalid_request_error('`group` is missing.').with({ param: 'group' });
        }
        const people = await Promise.all([...new Set(ids)].map((id) => subordinate(host, request.account, id, 'ids')));
        if (action !== 'set_group' && people.some(({ role }) => role === 'root')) {
          throw errors.root_protected('Root cannot be enabled, disabled or deleted.').with({ param: 'ids' });
        }
        const because = reason === '' ? {} : { reason };
        for (const { id, name, group: from } of people) {
          const object = `user ${id}`;
          if (action === 'delete') {
            await removeAccount(host, id, audited(request, 'user.delete', object, { username: name, ...because }));
          } else if (action === 'set_group') {
            const facts = { group: { from, to: group! }, ...because };
            await accounts.change(id, { group: group! }, audited(request, 'user.change', object, facts));
          } else {
            const along = audited(request, `user.${action}`, object, because);
            await accounts.change(id, { enabled: action === 'enable' }, along);
          }
        }
        return people.length;
      },
    }),
  ];
}
