/** Texts of the home page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  lasts: [
    (days: string) => `about ${counted(days, 'day')} at this week’s rate`,
    (days: string) => `按本周的用量约可用 ${days} 天`,
  ],
  noBalance: ['your account has no limit', '您的账户没有额度限制'],
  prepaid: ['prepaid', '预付费'],
  nothingLeft: ['no balance', '没有可用余额'],
  everybody: {
    today: ['All users, today', '所有用户，今日'],
    week: ['All users, 7 days', '所有用户，7 天'],
    month: ['All users, 30 days', '所有用户，30 天'],
  },
  today: ['Cost today', '今日费用'],
  week: ['Cost, 7 days', '7 天费用'],
  month: ['Cost, 30 days', '30 天费用'],
  requests: [(count: string) => (count === '1' ? '1 call' : `${count} calls`), (count: string) => `${count} 次调用`],
  utc: ['days are UTC', '按 UTC 计日'],
  start: ['Getting started', '开始使用'],
  startAbout: [
    (done: number, all: number) => `${done} of ${all} done`,
    (done: number, all: number) => `已完成 ${done} / ${all}`,
  ],
  dismiss: ['Dismiss', '不再显示'],
  done: ['done', '已完成'],
  open: ['to do', '待完成'],
  steps: {
    balance: ['Add credit', '充值'],
    key: ['Create a key', '创建密钥'],
    call: ['Make the first call', '发起首次调用'],
    vendor: ['Connect a vendor', '接入供应商'],
    factor: ['Set up a second factor', '设置双重验证'],
    people: ['Invite users', '邀请用户'],
  },
  balanceTodo: [
    'Calls are paid from your balance, which is empty. Free models need no balance.',
    '调用费用从余额中扣除，而您的余额为零。免费模型不需要余额。',
  ],
  balanceAsk: [
    'Redeem a code, or ask an administrator to credit your account.',
    '请使用兑换码，或联系管理员为您充值。',
  ],
  balanceTopUp: ['Top up or redeem a code:', '充值或使用兑换码：'],
  keyTodo: [
    'Programs authenticate with an API key. Their calls are paid from your balance.',
    '程序使用 API 密钥进行身份验证，调用费用从您的余额中扣除。',
  ],
  firstKey: ['First key', '第一个密钥'],
  keyOnce: [
    'Copy the key now. It is not shown again after you leave this page.',
    '请立即复制密钥。离开本页后将不再显示。',
  ],
  callTodo: [
    'Run this in a terminal. This page updates when the call arrives.',
    '请在终端中运行此命令。调用到达后，本页会自动更新。',
  ],
  callNoKey: [
    'Create a key first. The command to run then appears here.',
    '请先创建密钥，随后这里会显示要运行的命令。',
  ],
  callHidden: [
    (name: string) =>
      `Only a hash of the key “${name}” is stored, so it cannot be shown here. Replace sk-… with it, or open Connect to test it.`,
    (name: string) =>
      `系统只保存密钥“${name}”的哈希值，因此无法在此显示。请将 sk-… 替换为该密钥，或打开“接入”进行测试。`,
  ],
  waiting: ['Waiting for the first call…', '正在等待首次调用…'],
  refusedFirst: ['A call arrived and was refused:', '收到一次调用，但已被拒绝：'],
  seeWhy: ['See why in Logs', '在日志中查看原因'],
  arrived: ['The first call has arrived', '已收到首次调用'],
  arrivedAbout: [(model: string) => `${model} answered.`, (model: string) => `${model} 已响应。`],
  line: ['Open in Logs', '在日志中打开'],
  free: ['It was free.', '本次免费。'],
  cost: ['It cost', '费用'],
  vendorTodo: [
    'Only the demo model is available. With the API key of a vendor, its models are available without a restart.',
    '目前只有 demo 模型可用。填入供应商的 API 密钥后，无需重启即可使用其模型。',
  ],
  factorTodo: [
    'Anyone with your password could spend money and change permissions. An authenticator app or a passkey prevents that.',
    '任何知道您密码的人都可以花费余额、更改权限。身份验证器应用或通行密钥可以防止这种情况。',
  ],
  peopleTodo: [
    'You are the only user. Invite users, or create accounts for them.',
    '目前只有您一个用户。您可以邀请用户，或为他们创建账户。',
  ],
  users: ['Users', '用户'],
  attention: ['Needs attention', '需要注意'],
  alerts: {
    debt: [
      (amount: string) => `The account owes ${amount}: calls are refused until it is paid.`,
      (amount: string) => `账户欠款 ${amount}：还清之前调用会被拒绝。`,
    ],
    empty: ['The balance is used up: only free models can be called.', '余额已用完：只能调用免费模型。'],
    low: [(amount: string) => `Only ${amount} is left.`, (amount: string) => `余额只剩 ${amount}。`],
    pace: [
      (amount: string, days: string) =>
        `At this week’s rate, the remaining ${amount} lasts about ${counted(days, 'day')}.`,
      (amount: string, days: string) => `按本周的用量，剩余的 ${amount} 约可用 ${days} 天。`,
    ],
    key: [
      (name: string, when: string) => `The key “${name}” expires ${when}.`,
      (name: string, when: string) => `密钥“${name}”将于${when}过期。`,
    ],
    keys: [
      (count: string) => (count === '1' ? '1 key expires within 7 days.' : `${count} keys expire within 7 days.`),
      (count: string) => `${count} 个密钥将在 7 天内过期。`,
    ],
    ends: [
      (plan: string, when: string) => `The subscription ${plan} ends ${when}.`,
      (plan: string, when: string) => `订阅 ${plan} 将于${when}到期。`,
    ],
    ended: [
      (plan: string, when: string) => `The subscription ${plan} ended ${when}.`,
      (plan: string, when: string) => `订阅 ${plan} 已于${when}到期。`,
    ],
    channelDown: [
      (names: string) => `Circuit open for these channels: ${names}.`,
      (names: string) => `以下渠道已熔断：${names}。`,
    ],
    channelTrying: [
      (names: string) => `Circuit half-open for these channels: ${names}.`,
      (names: string) => `以下渠道处于半开状态：${names}。`,
    ],
    unpriced: [
      (names: string) => `Calls of models without a price are refused: ${names}.`,
      (names: string) => `以下模型没有价格，调用会被拒绝：${names}。`,
    ],
    unpricedFree: [
      (names: string) => `Models without a price cost nothing: ${names}.`,
      (names: string) => `以下模型没有价格，调用免费：${names}。`,
    ],
    backup: [(when: string) => `The last backup was made ${when}.`, (when: string) => `上次备份于${when}完成。`],
    backupFailed: [
      (when: string, why: string) => `The scheduled backup failed ${when}: ${why}`,
      (when: string, why: string) => `定时备份于${when}失败：${why}`,
    ],
    noBackup: [
      'No backup yet. Run `turnpike backup FILE`; the gateway can keep running.',
      '还没有备份。请运行 `turnpike backup FILE`；备份时网关可以继续运行。',
    ],
    budget: [
      (name: string, percent: string) => `The department ${name} has used ${percent} of its budget.`,
      (name: string, percent: string) => `部门 ${name} 已使用预算的 ${percent}。`,
    ],
    budgets: [
      (count: string) =>
        count === '1'
          ? '1 budget of a department is nearly used up.'
          : `${count} budgets of departments are nearly used up.`,
      (count: string) => `${count} 个部门预算即将用完。`,
    ],
    parked: [
      (count: string) =>
        count === '1' ? '1 order is paid but not credited.' : `${count} orders are paid but not credited.`,
      (count: string) => `${count} 个订单已付款但未入账。`,
    ],
    unpaid: [
      (count: string) => (count === '1' ? '1 order waits for its payment.' : `${count} orders wait for their payment.`),
      (count: string) => `${count} 个订单等待付款。`,
    ],
    lowUsers: [
      (names: string, amount: string) => `Less than ${amount} is left for these users: ${names}.`,
      (names: string, amount: string) => `以下用户的余额不足 ${amount}：${names}。`,
    ],
    readOnly: ['The database is not writable: calls are refused.', '数据库无法写入：调用会被拒绝。'],
  },
  goTo: {
    wallet: ['Wallet', '钱包'],
    keys: ['Keys', '密钥'],
    vendors: ['Vendors', '供应商'],
    prices: ['Prices', '价格'],
    system: ['System', '系统'],
    departments: ['Departments', '部门'],
    'payments?state=parked': ['Payments', '支付'],
    'payments?state=pending': ['Payments', '支付'],
    'users?sort=quota': ['Users', '用户'],
  },
  more: [
    (names: string, count: string) => `${names} and ${count} more`,
    (names: string, count: string) => `${names}，以及另外 ${count} 个`,
  ],
  weekAgo: [(amount: string) => `${amount} on the same day last week`, (amount: string) => `上周同一天 ${amount}`],
  topModels: ['Models with the highest cost', '费用最高的模型'],
  topUsers: ['Users with the highest cost', '费用最高的用户'],
  topAbout: ['The last 7 days of all users', '最近 7 天，所有用户'],
  quietWeek: ['No calls in the last 7 days.', '最近 7 天没有调用。'],
  costs: ['Cost per day', '每日费用'],
  costsAbout: ['The last 30 days by model', '最近 30 天，按模型'],
  costsOfAll: ['The last 30 days of all users, by model', '最近 30 天，所有用户，按模型'],
  others: ['all others', '其他'],
  noModel: ['no model', '无模型'],
  quiet: ['No calls in the last 30 days', '最近 30 天没有调用'],
  quietAbout: ['Cost by day and model appears here.', '每日费用会按模型显示在这里。'],
  recent: ['Latest calls', '最近的调用'],
  logs: ['View all in Logs', '在日志中查看全部'],
  tokens: ['Tokens in / out', 'Token 输入 / 输出'],
  outcomes: {
    served: ['Served', '成功'],
    refused: ['Refused', '已拒绝'],
    failed: ['Failed', '失败'],
    aborted: ['Cancelled', '已取消'],
    recovered: ['Interrupted', '已中断'],
  },
});
