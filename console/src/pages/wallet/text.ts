/** Texts of the wallet page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: ['Your balance, payments and transactions.', '您的余额、付款和交易记录。'],
  available: ['Available', '可用余额'],
  availableNote: ['for calls', '可用于调用'],
  unlimitedNote: ['this account has no limit', '此账户额度不限'],
  heldNote: ['for running calls; the unused part is released', '用于进行中的调用；未用完的部分会释放'],
  used: ['Total used', '累计已用'],
  owed: ['Owed', '欠款'],
  owedNote: ['deducted from the next credit', '从下一笔入账中抵扣'],
  debt: {
    title: [(amount: string) => `You owe ${amount}`, (amount: string) => `您欠款 ${amount}`],
    about: [
      'A payment was refunded or disputed after its amount had been spent. Calls are refused until the debt is paid.',
      '一笔付款在其金额花掉之后被退款或提出争议。还清欠款之前，调用会被拒绝。',
    ],
    next: [
      'Top up or redeem a code: the debt is paid first, and the rest is added to your balance. If this is a mistake, ask an administrator.',
      '请充值或使用兑换码：先抵扣欠款，其余计入余额。如果有误，请联系管理员。',
    ],
  },
  department: {
    title: [(name: string) => `Your department: ${name}`, (name: string) => `您的部门：${name}`],
    windows: {
      month: [(name: string) => `${name}, this month`, (name: string) => `${name}，本月`],
      total: [(name: string) => `${name}, total`, (name: string) => `${name}，总计`],
    },
    about: [
      'All members of a department share its budget. When a budget is used up, calls are refused until the budget is raised or resets.',
      '部门的所有成员共用其预算。预算用完后，调用会被拒绝，直到预算提高或重置。',
    ],
    ratio: [
      (ratio: string) => `Calls cost ${ratio} times the price.`,
      (ratio: string) => `调用按价格的 ${ratio} 倍计费。`,
    ],
    disabled: [
      (name: string) => `${name} is disabled: calls are refused.`,
      (name: string) => `${name} 已停用：调用会被拒绝。`,
    ],
  },
  topUp: {
    title: ['Top up', '充值'],
    unitCosts: [
      (unit: string, price: string) => `${unit} costs ${price}`,
      (unit: string, price: string) => `${unit} 需支付 ${price}`,
    ],
    own: ['Other amount', '其他金额'],
    between: [
      (least: string, most: string) => `Whole amounts from ${least} to ${most}.`,
      (least: string, most: string) => `整数金额，${least} 至 ${most}。`,
    ],
    youPay: [
      (money: string, units: string) => `You pay ${money} and get ${units}.`,
      (money: string, units: string) => `支付 ${money}，到账 ${units}。`,
    ],
    pay: [(money: string) => `Pay ${money}`, (money: string) => `支付 ${money}`],
    payPlain: ['Pay', '支付'],
    leaves: ['You pay on the provider’s page and return here.', '您将在支付方的页面付款，然后返回这里。'],
    products: ['Packages', '商品'],
    buy: [(name: string) => `Buy ${name}`, (name: string) => `购买 ${name}`],
    off: ['Online payments are off', '在线支付未开通'],
    offAbout: [
      'Ask an administrator to credit your account or to send you a redemption code.',
      '请联系管理员为您的账户充值，或向其索取兑换码。',
    ],
    offAdmin: [
      'Configure a provider under “payments” in gateway.yaml, or create redemption codes.',
      '请在 gateway.yaml 的 “payments” 中配置支付方，或创建兑换码。',
    ],
    unsafe: [
      'The payment page was not opened because its URL is not https. Tell an administrator.',
      '付款页面的 URL 不是 https，因此没有打开。请告知管理员。',
    ],
    noPage: [
      'The provider’s payment page could not be opened. Try again, or use another payment method.',
      '无法打开支付方的付款页面。请重试，或换一种支付方式。',
    ],
  },
  code: {
    title: ['Redeem a code', '兑换码'],
    about: [
      'A code adds its amount to the balance of the first account that redeems it.',
      '兑换码将其金额计入最先兑换的账户。',
    ],
    redeem: ['Redeem', '兑换'],
    wanted: ['Enter a code.', '请输入兑换码。'],
    added: [
      (amount: string) => `${amount} was added to your balance.`,
      (amount: string) => `${amount} 已计入您的余额。`,
    ],
  },
  scan: {
    title: ['Scan to pay', '扫码支付'],
    about: [
      'Scan this code with your payment app. This page updates when the payment is complete.',
      '请用支付应用扫描此二维码。付款完成后，本页会更新。',
    ],
    picture: ['Payment QR code', '付款二维码'],
  },
  back: {
    waiting: ['Waiting for your payment to be confirmed', '正在等待付款确认'],
    waitingAbout: [
      (provider: string) =>
        `${provider} usually confirms the payment within seconds, sometimes within minutes. This page updates automatically; you can also leave it.`,
      (provider: string) => `${provider} 通常在几秒内确认付款，有时需要几分钟。本页会自动更新，您也可以离开。`,
    ],
    unpaid: ['Payment cancelled', '付款已取消'],
    unpaidAbout: [
      'You were not charged. Start again, or let the order expire.',
      '没有扣款。您可以重新开始，也可以等订单自动过期。',
    ],
    gave: [(what: string) => `${what} was added to your balance.`, (what: string) => `${what} 已计入您的余额。`],
    gavePlan: [(plan: string) => `Your plan ${plan} is active.`, (plan: string) => `套餐 ${plan} 已生效。`],
    failedAbout: [
      'You were not charged. Try again, or use another payment method.',
      '没有扣款。请重试，或换一种支付方式。',
    ],
    expired: ['This order has expired', '此订单已过期'],
    expiredAbout: [
      'You were not charged. If your payment arrives late, it is still credited.',
      '没有扣款。如果之后收到您的付款，仍会入账。',
    ],
    parkedAbout: [
      (number: string) => `Your payment is safe. Give an administrator the order number ${number}.`,
      (number: string) => `您的付款是安全的。请将订单号 ${number} 告知管理员。`,
    ],
    returned: ['Payment refunded', '付款已退款'],
    details: ['Show order', '查看订单'],
    dismiss: ['Dismiss', '知道了'],
  },
  plan: {
    none: ['You have no subscription', '您没有订阅'],
    noneAbout: ['Your calls are paid from your balance.', '调用费用从您的余额中扣除。'],
    ended: ['ended', '结束于'],
    expiredAbout: [
      'Renew it below, or ask an administrator. Without a plan, calls may be refused.',
      '请在下方续期，或联系管理员。没有套餐时，调用可能会被拒绝。',
    ],
    forDays: [(days: string) => `for ${counted(days, 'day')}`, (days: string) => `${days} 天`],
    notSold: ['assigned by administrators', '由管理员发放'],
    buyThe: [(plan: string) => `Buy plan ${plan}`, (plan: string) => `购买套餐 ${plan}`],
    extendThe: [(plan: string) => `Extend plan ${plan}`, (plan: string) => `续期套餐 ${plan}`],
    otherRuns: [
      'Another plan is active. Wait until it ends, or ask an administrator to end it.',
      '另一个套餐正在生效。请等它结束，或联系管理员终止。',
    ],
    nobodySells: ['This plan cannot be bought online. Ask an administrator.', '此套餐无法在线购买，请联系管理员。'],
    fromBalance: ['Your balance', '您的余额'],
    extends: [
      (days: string) => `Your plan is extended by ${counted(days, 'day')}.`,
      (days: string) => `您的套餐将延长 ${days} 天。`,
    ],
    tooLittle: ['Insufficient balance.', '余额不足。'],
    bought: [(plan: string) => `Your plan ${plan} is active.`, (plan: string) => `套餐 ${plan} 已生效。`],
  },
  tabs: { statement: ['Statement', '账单'], orders: ['Orders', '订单'] },
  statement: {
    month: ['Statement of a month', '月度对账单'],
    days: ['Period', '时间范围'],
    lastDays: [(days: string) => counted(days, 'day'), (days: string) => `${days} 天`],
    balance: ['Balance at the end of each day', '每日结束时的余额'],
    balanceAbout: ['Your balance at the end of each day', '您每日结束时的余额'],
    side: ['Chart', '图表'],
    went: ['Spending by day', '每日支出'],
    wentShort: ['Out', '支出'],
    wentAbout: ['Debits by day', '每日支出'],
    came: ['Credits by day', '每日收入'],
    cameShort: ['In', '收入'],
    cameAbout: ['Credits to your balance by day', '每日计入您余额的金额'],
    other: ['Other debits', '其他支出'],
    returned: ['Refunded', '已退款'],
    events: ['Other transactions', '其他交易'],
    eventsAbout: ['Days are UTC.', '日期按 UTC 计算。'],
    what: ['Transaction', '交易'],
    noEvents: ['No other transactions', '没有其他交易'],
    noEventsAbout: [
      'Top-ups, redeemed codes, refunds and changes by administrators appear here.',
      '充值、兑换码、退款以及管理员的调整会显示在这里。',
    ],
    kinds: {
      opened: ['Account created', '创建账户'],
      code: ['Redeemed a code', '使用兑换码'],
      paid: [(provider: string) => `Paid with ${provider}`, (provider: string) => `通过 ${provider} 支付`],
      plan: ['Bought a plan', '购买套餐'],
      withPlan: ['Included in a plan', '套餐包含'],
      back: ['Payment refunded', '付款已退款'],
      again: ['Refund reversed', '退款已撤销'],
      given: ['Added by an administrator', '管理员增加'],
      taken: ['Deducted by an administrator', '管理员扣除'],
    },
  },
  orders: {
    title: ['Your orders', '您的订单'],
    emptyAbout: ['Orders appear here when you start a payment.', '您开始付款后，订单会显示在这里。'],
    billing: ['Billing details', '开票信息'],
    billingAbout: [
      'Shown as the buyer on your invoices. Invoices that were issued before stay as they are.',
      '作为买方显示在您的账单上。已开具的账单不会改变。',
    ],
    billingName: ['Name or company', '姓名或公司'],
    billingAddress: ['Address', '地址'],
    billingTaxId: ['Tax ID', '税号'],
  },
});
