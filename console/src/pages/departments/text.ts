/** Texts of the departments page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'Budgets and price factors for groups of users. A call is charged to the budgets of its department and of all departments above.',
    '为一组用户设置预算和价格倍率。一次调用会同时计入所在部门及所有上级部门的预算。',
  ],
  search: ['Find a department', '查找部门'],
  sortBy: ['Sort by', '排序方式'],
  sorts: {
    name: ['By name', '按名称'],
    people: ['Most members', '成员最多'],
    used: ['Most used this month', '本月用量最多'],
    left: ['Least remaining', '剩余最少'],
  },
  select: ['Select', '选择'],
  selection: {
    disableTitle: [
      (count: number) => (count === 1 ? 'Disable 1 department?' : `Disable ${count} departments?`),
      (count: number) => `停用 ${count} 个部门？`,
    ],
    deleteTitle: [
      (count: number) => (count === 1 ? 'Delete 1 department?' : `Delete ${count} departments?`),
      (count: number) => `删除 ${count} 个部门？`,
    ],
    disableAbout: [
      'Their members and those of departments below cannot make calls until the departments are enabled again.',
      '在重新启用之前，这些部门及其下级部门的成员无法调用。',
    ],
    deleteAbout: [
      'Only departments without members can be deleted; those below must be selected, too.',
      '只能删除没有成员的部门；其下级部门也必须选中。',
    ],
    done: [
      (count: number) => (count === 1 ? '1 department was changed.' : `${count} departments were changed.`),
      (count: number) => `已更改 ${count} 个部门。`,
    ],
  },
  createBelow: ['New department below', '新建下级部门'],
  expandAll: ['Expand all', '全部展开'],
  collapseAll: ['Collapse', '收起'],
  peopleCount: [
    (count: string) => (count === '1' ? '1 member' : `${count} members`),
    (count: string) => `${count} 名成员`,
  ],
  of: [(used: string, limit: string) => `${used} of ${limit}`, (used: string, limit: string) => `${used} / ${limit}`],
  left: ['Remaining', '剩余'],
  through: [
    (name: string, period: string) => `${name}, ${period}`,
    (name: string, period: string) => `${name}，${period}`,
  ],
  periods: { month: ['this month', '本月'], total: ['total', '总计'] },
  factor: ['Price factor', '价格倍率'],
  disabledAbove: [
    (name: string) => `Department “${name}” is disabled; its members and those of departments below cannot make calls.`,
    (name: string) => `部门“${name}”已停用；该部门及其下级部门的成员无法调用。`,
  ],
  more: [(count: string) => `Show ${count} more`, (count: string) => `再显示 ${count} 个`],
  nothingFound: ['No matching departments', '没有符合条件的部门'],
  clearSearch: ['Clear search', '清除搜索'],

  emptyAbout: [
    'A department has a budget for its members: when it is used up, their calls are refused, whatever their own balance. Users without a department spend only their own balance.',
    '部门的成员共用一份预算：预算用完后，无论个人余额多少，调用都会被拒绝。不属于任何部门的用户只消耗自己的余额。',
  ],
  template: ['Team with a budget', '带预算的团队'],
  templateAbout: [
    'A department with a monthly budget that its members share. When it is used up, their calls are refused until the next month, or until you raise it.',
    '一个带有每月预算的部门，成员共用预算。用完后，调用会被拒绝，直到下个月或您提高预算。',
  ],
  templateName: ['Team', '团队'],
  templatePeopleAbout: ['Optional.', '可选。'],
  templateNoAccounts: ['No accounts yet?', '还没有账户？'],
  templateInvite: ['Invite users', '邀请用户'],
  templateMake: ['Create team', '创建团队'],
  made: [(name: string) => `Created “${name}”.`, (name: string) => `“${name}”已创建。`],
  madeWithout: [
    (name: string) => `Created “${name}”, but its members were not added.`,
    (name: string) => `“${name}”已创建，但未能添加成员。`,
  ],

  recharge: ['Add to budget', '追加预算'],
  rechargeNone: [
    'This department has no total budget. Set one with “Edit” first.',
    '该部门没有总预算。请先通过“编辑”设置。',
  ],
  usage: ['Used this month', '本月用量'],
  usageAbout: [
    'Of this department and all departments below, from the usage records; UTC.',
    '本部门及所有下级部门，来自用量记录；UTC。',
  ],
  calls: [(count: string) => (count === '1' ? '1 call' : `${count} calls`), (count: string) => `${count} 次调用`],
  refusals: [(count: string) => `${count} refused or failed`, (count: string) => `${count} 次被拒绝或失败`],
  budgets: ['Budgets charged for its calls', '其调用计入的预算'],
  budgetsAbout: ['Its own first, then those of the departments above.', '先是本部门的预算，然后是上级部门的预算。'],
  budgetsNone: [
    'This department has no budget. Its members spend their own balance.',
    '该部门没有预算，成员消耗自己的余额。',
  ],
  setBudget: ['Set a budget', '设置预算'],
  tightest: ['tightest', '最紧'],
  tightestIs: [
    (left: string) => `Its members can spend ${left} more before calls are refused.`,
    (left: string) => `成员还可以花费 ${left}，之后调用会被拒绝。`,
  ],
  tightestNone: [
    'Used up: calls of its members are refused. Raise the budget.',
    '已用完：成员的调用会被拒绝。请提高预算。',
  ],
  leftOf: [(amount: string) => `${amount} left`, (amount: string) => `剩余 ${amount}`],
  resets: ['Resets on the first of the month, UTC.', '每月一日（UTC）重置。'],
  price: [
    (factor: string) => `Calls cost ${factor} times the price.`,
    (factor: string) => `调用按价格的 ${factor} 倍计费。`,
  ],
  priceUsual: ['Calls cost the standard price.', '调用按标准价格计费。'],
  priceFree: ['Calls cost nothing.', '调用免费。'],
  below: ['Departments below', '下级部门'],

  membersAbout: ['Members of this department and of those below.', '本部门及下级部门的成员。'],
  membersNone: ['No members yet', '还没有成员'],
  membersNoneAbout: [
    'Calls of members are charged to its budgets. Search for users above to add them.',
    '成员的调用会计入该部门的预算。请在上方搜索用户并添加。',
  ],
  takeOut: [(name: string) => `Remove ${name}`, (name: string) => `移出 ${name}`],
  takeOutTitle: ['Remove from department', '移出部门'],
  takeOutAbout: [
    (name: string, department: string) =>
      `${name} is removed from “${department}”. Their calls are no longer charged to any department budget, and cost the standard price.`,
    (name: string, department: string) =>
      `${name} 将从“${department}”移出。其调用不再计入任何部门的预算，并按标准价格计费。`,
  ],
  takeOutDo: ['Remove', '移出'],
  notBelow: ['Only root can move administrators.', '只有 root 可以移动管理员。'],
  add: ['Add', '添加'],
  addPeople: ['Add members', '添加成员'],
  addAbout: [
    'A user belongs to one department at a time. Adding them here removes them from the other.',
    '一个用户同一时间只属于一个部门。添加到这里会将其移出原部门。',
  ],
  findPeople: ['Enter a name or an email address', '输入名称或邮箱'],
  addedPeople: [
    (count: string) => (count === '1' ? '1 member added.' : `${count} members added.`),
    (count: string) => `已添加 ${count} 名成员。`,
  ],
  nowIn: [(name: string) => `now in ${name}`, (name: string) => `现在属于 ${name}`],

  formEdit: [(name: string) => `Edit “${name}”`, (name: string) => `编辑“${name}”`],
  parent: ['Parent department', '上级部门'],
  parentAbout: ['Calls are also charged to the budgets of parent departments.', '调用也计入上级部门的预算。'],
  parentNone: ['none (top level)', '无（顶层）'],
  monthly: ['Monthly budget', '每月预算'],
  monthlyAbout: ['Resets on the first of the month, UTC.', '每月一日（UTC）重置。'],
  totalAbout: ['Never resets. Counts from when it is first set.', '从不重置，从首次设置时起计。'],
  factorAbout: [
    'Multiplies the price of members’ calls; 0: free. Departments below have their own factor.',
    '成员调用的价格乘以此倍率；0 表示免费。下级部门各有自己的倍率。',
  ],
  enabledAbout: [
    'If disabled, calls of its members and of departments below are refused.',
    '停用后，该部门及下级部门成员的调用会被拒绝。',
  ],
  belowUsed: [
    (used: string) => `${used} is already used: calls will be refused at once.`,
    (used: string) => `已用 ${used}：保存后调用会立即被拒绝。`,
  ],
  make: ['Create', '创建'],

  rechargeTitle: [(name: string) => `Add to the budget of “${name}”`, (name: string) => `为“${name}”追加预算`],
  rechargeAmount: ['Add', '追加'],
  rechargeAfter: [
    (before: string, after: string, left: string) => `From ${before} to ${after}: ${left} will be left.`,
    (before: string, after: string, left: string) => `从 ${before} 到 ${after}：将剩余 ${left}。`,
  ],
  rechargeMonth: [
    'This does not change the monthly budget; use “Edit” for that.',
    '这不会更改每月预算；请通过“编辑”修改。',
  ],

  deleteTitle: [(name: string) => `Delete “${name}”`, (name: string) => `删除“${name}”`],
  deleteAbout: [
    'Its budgets are deleted. Its usage stays in the logs and statistics.',
    '其预算会被删除。用量仍保留在日志和统计中。',
  ],
  deleteBlocked: ['It cannot be deleted:', '无法删除：'],
  deletePeople: [
    (count: string) =>
      count === '1'
        ? 'It has 1 member: remove or move them first.'
        : `It has ${count} members: remove or move them first.`,
    (count: string) => `其中有 ${count} 名成员：请先移出或移到其他部门。`,
  ],
  deleteBelow: [
    (count: string) =>
      count === '1'
        ? '1 department is below it: move or delete it first.'
        : `${count} departments are below it: move or delete them first.`,
    (count: string) => `有 ${count} 个下级部门：请先移动或删除。`,
  ],
  deleted: [(name: string) => `“${name}” was deleted.`, (name: string) => `“${name}”已删除。`],
  gone: ['Department not found', '未找到部门'],
  goneAbout: ['It may have been deleted.', '它可能已被删除。'],
});
