/** Texts of the prices page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'Prices of all models and their sources. Change prices in gateway.yaml.',
    '每个模型的价格及其来源。价格在 gateway.yaml 中修改。',
  ],
  prices: ['Prices', '价格'],
  snapshot: [
    (name: string, version: string) =>
      `In currency units. List prices come from ${name} ${version}, shipped with this gateway; prices in gateway.yaml override them.`,
    (name: string, version: string) =>
      `以货币单位计。公布价格来自随网关附带的 ${name} ${version}；以 gateway.yaml 中的价格为准。`,
  ],
  updates: {
    tab: ['List price updates', '公布价格更新'],
    title: ['Newer list prices', '更新的公布价格'],
    about: [
      'Downloads the published price list and compares it with the current list prices. Nothing is changed, and nothing is downloaded before you press the button.',
      '下载已发布的价格表，并与当前的公布价格比较。不会修改任何内容，按下按钮之前也不会下载。',
    ],
    compare: ['Compare', '比较'],
    notCompared: ['Not compared since this page was opened.', '打开本页后还没有比较。'],
    found: [
      (count: string, source: string) =>
        count === '1'
          ? `1 change for models of this gateway in ${source}`
          : `${count} changes for models of this gateway in ${source}`,
      (count: string, source: string) => `${source} 中有 ${count} 项涉及本网关模型的变动`,
    ],
    showAll: [
      (count: string) =>
        count === '1'
          ? 'Show also 1 model that is not configured'
          : `Show also ${count} models that are not configured`,
      (count: string) => `同时显示 ${count} 个未配置的模型`,
    ],
    changes: ['Changed prices', '价格变动'],
    none: ['The list has no other prices', '没有价格变动'],
    noneAbout: [
      'The prices of all models of this gateway are those of the published list.',
      '本网关所有模型的公布价格都是最新的。',
    ],
    sells: [(names: string) => `charged for ${names}`, (names: string) => `用于 ${names} 的计费`],
    fixed: [
      (names: string) => `${names}: price set in gateway.yaml, which stays`,
      (names: string) => `${names}：价格在 gateway.yaml 中设置，保持不变`,
    ],
    amount: ['Amount', '计费项'],
    old: ['Old', '原价格'],
    new: ['New', '新价格'],
    change: ['Change', '变动'],
    kind: ['Kind', '类型'],
    kinds: {
      new: ['New model', '新模型'],
      increase: ['Increase', '上涨'],
      decrease: ['Decrease', '下降'],
      mixed: ['Up and down', '有涨有跌'],
      structure: ['Other amounts', '计费项变化'],
    },
    above: [(tokens: string) => `above ${counted(tokens, 'token')}`, (tokens: string) => `超过 ${tokens} Token`],
    from: [(day: string) => `from ${day}`, (day: string) => `自 ${day} 起`],
    take: [
      (count: string) => (count === '1' ? 'Take over 1 change' : `Take over ${count} changes`),
      (count: string) => `采用 ${count} 项变动`,
    ],
    takeAll: [(count: string) => `Take over all (${count})`, (count: string) => `全部采用（${count}）`],
    takeTitle: [
      (count: string) => (count === '1' ? 'Take over 1 changed price?' : `Take over ${count} changed prices?`),
      (count: string) => `采用 ${count} 项价格变动？`,
    ],
    takeOver: ['Take over', '采用'],
    takeAbout: [
      'Calls that begin in two minutes or later are charged at the new prices, on all gateways. Earlier calls cost what they cost. To go back, set a price in gateway.yaml.',
      '两分钟后开始的调用会在所有网关上按新价格计费，之前的调用不受影响。如需恢复，请在 gateway.yaml 中设置价格。',
    ],
    taken: [
      (count: string, from: string) =>
        `${count === '1' ? '1 price was' : `${count} prices were`} taken over, valid from ${from}`,
      (count: string, from: string) => `已采用 ${count} 项价格，自 ${from} 起生效`,
    ],
    onlyRoot: ['Only root can take prices over.', '只有 root 可以采用价格。'],
    skipped: ['Not taken over, because implausible', '因不合理而不会采用'],
    rule: ['Rule in force', '当前规则'],
    noRule: [
      'No scheduled comparison: prices change only if root takes them over.',
      '没有定时比较：只有 root 采用后价格才会改变。',
    ],
    rules: {
      none: [
        (every: string, most: string) =>
          `Every ${every} the list is compared and changes are logged; none is taken over. A list that changes a configured model by more than ${most} is refused.`,
        (every: string, most: string) =>
          `每 ${every} 比较一次，只记录变动，不采用。如果某个已配置模型的变动超过 ${most}，则拒绝该价格表。`,
      ],
      decreases: [
        (every: string, most: string) =>
          `Every ${every} the list is compared, and prices that only fall are taken over. A list that changes a configured model by more than ${most} is refused.`,
        (every: string, most: string) =>
          `每 ${every} 比较一次，只采用下降的价格。如果某个已配置模型的变动超过 ${most}，则拒绝该价格表。`,
      ],
      all: [
        (every: string, most: string) =>
          `Every ${every} the list is compared, and all changes are taken over. A list that changes a configured model by more than ${most} is refused.`,
        (every: string, most: string) =>
          `每 ${every} 比较一次，采用所有变动。如果某个已配置模型的变动超过 ${most}，则拒绝该价格表。`,
      ],
    },
    checked: ['Last compared:', '上次比较：'],
    fixedAbout: [
      'Prices in gateway.yaml (`prices:`, or `price:` of a model) always take precedence: an update never changes what such a model costs. If its price then differs from the list price by more than 10%, the tab Prices marks it as different.',
      'gateway.yaml 中的价格（`prices:` 或模型的 `price:`）始终优先：更新不会改变这些模型的费用。如果与公布价格相差超过 10%，“价格”标签页会标出差异。',
    ],
    history: ['History', '历史'],
    historyAbout: ['List prices that were taken over, newest first.', '已采用的公布价格，最新的在前。'],
    noHistory: ['No published prices were taken over', '还没有采用公布价格'],
    noHistoryAbout: ['The list prices of this version apply.', '使用此版本附带的公布价格。'],
    takenAt: ['Taken over', '采用时间'],
    takenBy: ['By', '操作者'],
    validFrom: ['Valid from', '生效时间'],
    source: ['Source', '来源'],
    more: [(count: string) => `${count} more`, (count: string) => `另外 ${count} 个`],
  },
  find: ['Find a model or channel', '查找模型或渠道'],
  all: [(count: string) => `All (${count})`, (count: string) => `全部（${count}）`],
  unpriced: [(count: string) => `Unpriced (${count})`, (count: string) => `无价格（${count}）`],
  drift: [(count: string) => `Differs (${count})`, (count: string) => `有差异（${count}）`],
  upcoming: [(count: string) => `Changes soon (${count})`, (count: string) => `即将变动（${count}）`],
  nothingUnpriced: ['Every model has a price', '所有模型都有价格'],
  nothingDrift: ['No price differs from the list price by more than 10%', '没有与公布价格相差超过 10% 的价格'],
  nothingUpcoming: ['No price changes are scheduled', '没有计划中的价格变动'],
  nothingUpcomingAbout: [
    'To schedule a change, make the price in gateway.yaml a list whose entries have `from: 2026-01-31`.',
    '如需计划价格变动，请将 gateway.yaml 中的价格写成列表，每项带有 `from: 2026-01-31`。',
  ],
  none: ['No models yet', '还没有模型'],
  noneAbout: [
    'Models are configured in gateway.yaml. Add a vendor first: the Vendors page has the lines to copy.',
    '模型在 gateway.yaml 中配置。请先添加供应商：“供应商”页面提供可复制的内容。',
  ],

  aliases: [(names: string) => `also ${names}`, (names: string) => `又名 ${names}`],
  fallbackOf: [(names: string) => `fallback for ${names}`, (names: string) => `${names} 的备用模型`],
  input: ['Input / 1M', '输入 / 百万'],
  output: ['Output / 1M', '输出 / 百万'],
  cacheRead: ['Cache read / 1M', '缓存读取 / 百万'],
  others: ['Other rates', '其他价格'],
  source: ['Source', '来源'],
  since: [(day: string) => `since ${day}`, (day: string) => `自 ${day} 起`],
  note: ['Status', '状态'],
  refused: ['Calls are refused (402).', '调用会被拒绝（402）。'],
  freeForNow: ['Calls cost nothing.', '调用不收费。'],
  fallbackUnpriced: ['A fallback has no price', '有备用模型没有价格'],
  driftBadge: ['Differs', '有差异'],
  upcomingBadge: [(day: string) => `Changes ${day}`, (day: string) => `${day} 变动`],
  sources: {
    model: ['model entry in gateway.yaml', 'gateway.yaml 中的模型条目'],
    prices: ['prices in gateway.yaml', 'gateway.yaml 中的 prices'],
    published: ['list price', '公布价格'],
  },

  lost: [
    (count: string) => (count === '1' ? 'Calls for one model are refused' : `Calls for ${count} models are refused`),
    (count: string) => `有 ${count} 个模型的调用会被拒绝`,
  ],
  lostAbout: [
    'Calls of models without a price, or with a fallback without one, are refused. Set a price or mark the model as free: each row has the lines to copy.',
    '模型或其备用模型没有价格时，调用会被拒绝。请设置价格，或将模型标为免费：每一行都提供可复制的内容。',
  ],
  showLost: ['Show models without a price', '查看没有价格的模型'],

  gone: ['Model not found', '未找到模型'],
  goneAbout: [
    'It is not in gateway.yaml, or only channels without a key serve it.',
    'gateway.yaml 中没有该模型，或只有没有密钥的渠道提供它。',
  ],
  calls: {
    charged: ['Calls are charged.', '调用会计费。'],
    free: ['Calls cost nothing.', '调用不收费。'],
    refused: ['Calls are refused with 402 model_not_priced.', '调用会被拒绝，返回 402 model_not_priced。'],
  },
  without: [(names: string) => `No price: ${names}.`, (names: string) => `没有价格：${names}。`],
  whatItMeans: [
    'Calls of models without a price are refused because they cannot be charged. To make them free instead, set `quota: { unpriced: free }` in gateway.yaml.',
    '没有价格的模型无法计费，因此调用会被拒绝。如需改为免费，请在 gateway.yaml 中设置 `quota: { unpriced: free }`。',
  ],
  amount: ['Unit', '项目'],
  restAsUsual: ['Unlisted usage is charged as input or output, or is free.', '未列出的用量按输入或输出计费，或免费。'],
  whole: ['Full price', '完整价格'],
  from: [(day: string) => `from ${day}`, (day: string) => `自 ${day} 起`],
  upcomingTitle: ['Scheduled prices', '计划中的价格'],
  upcomingAbout: ['Each applies from midnight UTC of its day.', '各自从当日 UTC 零点起生效。'],
  placesAbout: [
    'List prices may differ between vendors. A call is charged at the price of the channel that served it.',
    '不同供应商的公布价格可能不同。调用按提供服务的渠道的价格计费。',
  ],
  there: [(name: string) => `upstream name: ${name}`, (name: string) => `上游名称：${name}`],
  driftTitle: ['Differs from the list price', '与公布价格有差异'],
  driftAbout: [
    'The difference is more than 10%. It may be intended, or the vendor may have changed its price.',
    '相差超过 10%。可能是有意设置，也可能是供应商调整了价格。',
  ],
  configured: ['Yours', '您的价格'],
  published: ['List price', '公布价格'],
  publishedIs: [(text: string) => `List price: ${text}`, (text: string) => `公布价格：${text}`],
  isFreeThere: ['free in the price list', '公布价格为免费'],
  setTitle: ['Set a price', '设置价格'],
  changeTitle: ['Change the price', '修改价格'],
  setAbout: [
    'Add this to gateway.yaml with your own numbers. The section `prices` may exist already.',
    '把以下内容添加到 gateway.yaml，并填入您自己的数字。`prices` 配置段可能已经存在。',
  ],
  sells: ['Billing unit', '计费单位'],
  kinds: {
    tokens: ['Tokens', 'Token'],
    images: ['Images', '图片'],
    speech: ['Speech', '语音合成'],
    sound: ['Audio transcribed', '转写的音频'],
    free: ['Free', '免费'],
  },
  comments: {
    tokens: ['per million tokens', '每百万 Token'],
    images: ['per image', '每张图片'],
    speech: ['per million characters', '每百万字符'],
    sound: ['per second of audio: 0.006 a minute', '每秒音频，即每分钟 0.006'],
    free: ['add this to the existing entry', '在原有条目中加上这一项'],
  },
  after: [
    'A running gateway reloads the changed file automatically. Earlier charges do not change.',
    '运行中的网关会自动重新加载已修改的文件。已有的扣费不变。',
  ],
});
