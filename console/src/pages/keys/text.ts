/** Texts of the keys page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'Programs authenticate with API keys. Their calls are paid from your balance, within the limits of the key.',
    '程序使用 API 密钥进行身份验证。调用费用从您的余额中扣除，并受密钥的限制约束。',
  ],
  list: ['Your keys', '您的密钥'],
  states: {
    enabled: ['Enabled', '已启用'],
    disabled: ['Disabled', '已停用'],
    expired: ['Expired', '已过期'],
    spent: ['Used up', '额度用尽'],
  },
  stateAbout: {
    enabled: ['Calls with this key are accepted.', '接受使用此密钥的调用。'],
    disabled: ['Calls with this key are refused until you enable it.', '在您启用之前，使用此密钥的调用会被拒绝。'],
    expired: [
      'Calls with this key are refused. Change its expiry, or create a new key.',
      '使用此密钥的调用会被拒绝。请修改过期时间，或创建新密钥。',
    ],
    spent: ['Calls with this key are refused: its quota is used up.', '使用此密钥的调用会被拒绝：其额度已用完。'],
  },
  someModels: [(count: string) => counted(count, 'model'), (count: string) => `${count} 个模型`],
  oneModel: ['1 model', '1 个模型'],
  anywhere: ['Anywhere', '不限'],
  someAddresses: [(count: string) => counted(count, 'network'), (count: string) => `${count} 个网段`],
  lastUsed: ['Last used', '最近使用'],
  notUsed: ['never', '从未'],
  fortnight: ['14 days', '近 14 天'],
  fortnightOf: [
    (name: string, spent: string, calls: string) => `${name}: ${spent} in 14 days, ${counted(calls, 'call')}`,
    (name: string, spent: string, calls: string) => `${name}：近 14 天费用 ${spent}，共 ${calls} 次调用`,
  ],
  noCalls: ['no calls', '无调用'],
  switch: [(name: string) => `${name} is enabled`, (name: string) => `启用 ${name}`],
  more: [(name: string) => `More actions for ${name}`, (name: string) => `${name} 的更多操作`],
  calls: ['View calls', '查看调用'],
  rotate: ['Rotate', '轮换'],
  enabled: [(name: string) => `${name} is enabled.`, (name: string) => `${name} 已启用。`],
  disabled: [
    (name: string) => `${name} is disabled: calls with it are refused from now on.`,
    (name: string) => `${name} 已停用：此后使用它的调用会被拒绝。`,
  ],
  saved: [(name: string) => `${name} saved.`, (name: string) => `${name} 已保存。`],
  deleted: [
    (count: number) => (count === 1 ? 'Key deleted.' : `${count} keys deleted.`),
    (count: number) => (count === 1 ? '密钥已删除。' : `已删除 ${count} 个密钥。`),
  ],
  deleteSelected: ['Delete selected', '删除所选'],
  empty: ['No keys yet', '还没有密钥'],
  emptyAbout: [
    'Create one API key per program (editor, script, server) to see the cost of each and to revoke one without affecting the others.',
    '请为每个程序（编辑器、脚本、服务器）各创建一个 API 密钥，以便查看各自的费用，并可单独停用而不影响其他密钥。',
  ],
  emptyMake: ['Create your first key', '创建首个密钥'],
  noneFoundAbout: ['No key matches this name and state.', '没有密钥符合此名称和状态。'],
  allKeys: ['Show all keys', '显示所有密钥'],
  form: {
    edit: ['Edit key', '编辑密钥'],
    nameAbout: ['A note on where the key is used.', '备注密钥的用途。'],
    nameExample: ['laptop, CI, chat server …', '笔记本、CI、聊天服务器……'],
    nameWanted: ['Enter a name.', '请填写名称。'],
    allowance: ['Spending limit', '额度'],
    unlimited: ['No limit', '不限'],
    limited: ['Limited', '限制'],
    amountAbout: ['When it is used up, calls with this key are refused.', '用完后，使用此密钥的调用会被拒绝。'],
    amountLeft: [
      'Remaining quota. When it is used up, calls with this key are refused.',
      '剩余额度。用完后，使用此密钥的调用会被拒绝。',
    ],
    amountWanted: ['Enter an amount.', '请填写金额。'],
    presets: {
      never: ['Never', '永不'],
      week: ['7 days', '7 天'],
      month: ['30 days', '30 天'],
      quarter: ['90 days', '90 天'],
      year: ['1 year', '1 年'],
      date: ['Custom date', '自定义日期'],
    },
    date: ['Date and time', '日期和时间'],
    dateWanted: ['Choose a time in the future.', '请选择一个将来的时间。'],
    expiresAt: [(moment: string) => `Valid until ${moment}.`, (moment: string) => `有效期至 ${moment}。`],
    expiresNever: ['Valid until you disable or delete it.', '在您停用或删除之前一直有效。'],
    modelsAbout: [
      'The key can call only these models. Leave it empty to allow every model, including future ones.',
      '此密钥只能调用这些模型。留空表示允许所有模型，包括以后新增的。',
    ],
    modelsAll: ['All models', '全部模型'],
    addressesExample: ['For example:\n203.0.113.7\n10.0.0.0/8', '例如：\n203.0.113.7\n10.0.0.0/8'],
    addressesAbout: [
      'Allowed IP addresses or networks such as 10.0.0.0/8, one per line. Leave it empty to allow all.',
      '允许的 IP 地址或网段（如 10.0.0.0/8），每行一个。留空表示不限。',
    ],
    strict: ['Strict translation', '严格转换'],
    strictAbout: [
      'If a request cannot be translated exactly, the gateway lists warnings in a response header. With strict translation, it refuses the request instead.',
      '如果请求无法精确转换，网关会在响应头中列出警告。启用严格转换后，网关会拒绝该请求。',
    ],
  },
  limits: {
    title: ['Limits', '限制'],
    about: [
      'In addition to the limits of all keys. A limit for a model, or for a pattern such as gpt-*, counts only its calls.',
      '在所有密钥的限制之外生效。针对某个模型（或 gpt-* 这样的模式）的限制只计算其调用。',
    ],
    row: [(at: string) => `Limit ${at}`, (at: string) => `限制 ${at}`],
    kind: ['Limit', '限制项'],
    kinds: {
      daily_budget: ['Budget per day (UTC)', '每日预算（UTC）'],
      weekly_budget: ['Budget per week (UTC)', '每周预算（UTC）'],
      monthly_budget: ['Budget per month (UTC)', '每月预算（UTC）'],
      requests_per_minute: ['Requests per minute', '每分钟请求数'],
      tokens_per_minute: ['Tokens per minute', '每分钟 token 数'],
      concurrent: ['Concurrent calls', '并发调用数'],
    },
    count: ['Number', '数量'],
    allModels: ['All models', '全部模型'],
    add: ['Add limit', '添加限制'],
    removeRow: [(at: string) => `Remove limit ${at}`, (at: string) => `移除限制 ${at}`],
    wanted: ['Enter a value for every limit, or remove it.', '请为每项限制填写数值，或将其移除。'],
  },
  shown: {
    onlyNow: [
      'Copy it now: it is shown only once, because the gateway stores only its hash.',
      '请立即复制：密钥只显示一次，网关只保存其哈希值。',
    ],
    oldUntil: [
      (moment: string) => `The old key works until ${moment}.`,
      (moment: string) => `旧密钥在 ${moment} 之前仍然有效。`,
    ],
    oldEnded: ['The old key is refused from now on.', '旧密钥已失效。'],
    done: ['I have copied it', '我已复制'],
  },
  rotating: {
    about: [
      (name: string) =>
        `“${name}” gets a new secret with the same name, limits and history. Update the programs that use it.`,
      (name: string) => `“${name}”将获得新的密钥，名称、限制和历史记录不变。请更新使用它的程序。`,
    ],
    grace: ['The old key', '旧密钥'],
    graces: {
      none: ['Expires at once', '立即失效'],
      hour: ['Expires in 1 hour', '1 小时后失效'],
      day: ['Expires in 24 hours', '24 小时后失效'],
      own: ['Custom', '自定义'],
    },
    hours: ['Hours', '小时数'],
    leaked: ['If the key has leaked, let it expire at once.', '如果旧密钥已经泄露，请让它立即失效。'],
  },
  deleting: {
    title: [
      (count: number) => (count === 1 ? 'Delete the key?' : `Delete ${count} keys?`),
      (count: number) => (count === 1 ? '删除此密钥？' : `删除 ${count} 个密钥？`),
    ],
    about: [
      'Calls with this key are refused at once. This cannot be undone. Its calls stay in the logs.',
      '使用此密钥的调用会立即被拒绝，且无法撤销。其调用仍保留在日志中。',
    ],
    aboutMany: [
      'Calls with these keys are refused at once. This cannot be undone. Their calls stay in the logs.',
      '使用这些密钥的调用会立即被拒绝，且无法撤销。其调用仍保留在日志中。',
    ],
    action: [
      (count: number) => (count === 1 ? 'Delete key' : `Delete ${count} keys`),
      (count: number) => (count === 1 ? '删除密钥' : `删除 ${count} 个密钥`),
    ],
  },
});
