/** Texts of the payments page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: ['Orders, redemption codes and plans.', '订单、兑换码和套餐。'],
  tabs: { orders: ['Orders', '订单'], codes: ['Redemption codes', '兑换码'], plans: ['Plans', '套餐'] },
  orders: {
    title: ['Orders', '订单'],
    search: ['Search by order number', '按订单号搜索'],
    provider: ['Provider', '支付方'],
    anyProvider: ['Any provider', '所有支付方'],
    emptyAbout: ['Orders appear here when users start a payment.', '用户开始付款后，订单会显示在这里。'],
    emptyOff: [
      'No payment provider is configured: see “payments” in gateway.yaml. Codes and plans work without one.',
      '尚未配置支付方：见 gateway.yaml 的 “payments”。兑换码和套餐无需支付方即可使用。',
    ],
    noneAbout: ['No order matches these filters.', '没有订单符合这些筛选条件。'],
    complete: ['Complete manually', '手动完成'],
    note: ['Note', '备注'],
  },
  complete: {
    title: ['Complete the order manually?', '手动完成此订单？'],
    about: [
      (who: string, price: string) =>
        `Credits ${who} for this order; you confirm that ${price} was received. The provider is not contacted. A late notification credits nothing more.`,
      (who: string, price: string) =>
        `将此订单记入 ${who} 的账户；您确认已收到 ${price}。不会联系支付方。之后到达的通知不会重复入账。`,
    ],
    reason: ['Proof of payment', '付款凭据'],
    reasonAbout: ['Recorded in the audit log with your name.', '与您的名称一起记入审计日志。'],
    reasonExample: ['Seen on the account statement of 20 November', '已在 11 月 20 日的账户流水中看到'],
    wanted: ['Enter the proof of payment.', '请填写付款凭据。'],
    action: ['Complete order', '完成订单'],
    done: ['The order is complete.', '订单已完成。'],
  },
  codes: {
    title: ['Redemption codes', '兑换码'],
    search: ['Search by name or ID', '按名称或 ID 搜索'],
    states: {
      unused: ['Unused', '未使用'],
      disabled: ['Disabled', '已停用'],
      used: ['Used', '已使用'],
      expired: ['Expired', '已过期'],
    },
    whole: ['Show full codes', '显示完整兑换码'],
    wholeAbout: [
      'Anyone who has an unused code can redeem it. After you confirm with your second factor, full codes are shown for five minutes.',
      '任何人获得未使用的兑换码都可以兑换。通过双重验证后，完整兑换码会显示五分钟。',
    ],
    cut: ['Codes are truncated.', '兑换码已截断显示。'],
    unreadable: ['cannot be decrypted', '无法解密'],
    removeDead: ['Remove unusable codes', '移除失效兑换码'],
    made: ['Created', '创建时间'],
    madeBy: [(who: string) => `by ${who}`, (who: string) => `由 ${who}`],
    unused: ['not used', '未使用'],
    more: [(name: string) => `More actions for ${name}`, (name: string) => `${name} 的更多操作`],
    copy: ['Copy code', '复制兑换码'],
    enabled: ['Code enabled.', '兑换码已启用。'],
    disabled: ['Code disabled.', '兑换码已停用。'],
    deleted: ['Code deleted.', '兑换码已删除。'],
    removed: [
      (count: number) =>
        count === 0 ? 'No codes to remove.' : count === 1 ? '1 code removed.' : `${count} codes removed.`,
      (count: number) => (count === 0 ? '没有可移除的兑换码。' : `已移除 ${count} 个兑换码。`),
    ],
    empty: ['No codes yet', '还没有兑换码'],
    emptyAbout: [
      'A code adds its amount to the balance of the first account that redeems it: as a gift, a voucher or a payment without a provider.',
      '兑换码将其金额计入最先兑换的账户：可作礼品、代金券，或不经支付方的付款。',
    ],
    none: ['No matching codes', '没有符合条件的兑换码'],
    noneAbout: ['No code matches this search and state.', '没有兑换码符合此搜索和状态。'],
    all: ['Show all codes', '显示所有兑换码'],
  },
  making: {
    nameAbout: ['The purpose of the codes. At most 20 characters.', '兑换码的用途，最多 20 个字符。'],
    nameWanted: ['Enter a name.', '请填写名称。'],
    amount: ['Amount each', '每个金额'],
    amountWanted: ['Enter an amount.', '请填写金额。'],
    count: ['Number of codes', '数量'],
    countAbout: ['From 1 to 100.', '1 至 100 个。'],
    expiresAbout: ['Leave it empty for no expiry.', '留空表示永不过期。'],
    dateWanted: ['Choose a time in the future.', '请选择一个将来的时间。'],
    action: [
      (count: number) => (count === 1 ? 'Create code' : `Create ${count} codes`),
      (count: number) => (count === 1 ? '创建兑换码' : `创建 ${count} 个兑换码`),
    ],
    madeTitle: [
      (count: number) => (count === 1 ? 'Code created' : `${count} codes created`),
      (count: number) => (count === 1 ? '兑换码已创建' : `已创建 ${count} 个兑换码`),
    ],
    madeAbout: [
      (amount: string) => `Each adds ${amount} to the first account that redeems it. Treat them like cash.`,
      (amount: string) => `每个兑换码将 ${amount} 计入最先兑换的账户。请像现金一样保管。`,
    ],
    list: ['Codes', '兑换码'],
  },
  deleting: {
    title: ['Delete the code?', '删除此兑换码？'],
    about: [
      (name: string, amount: string) => `“${name}”, worth ${amount}: it can no longer be redeemed.`,
      (name: string, amount: string) => `“${name}”，价值 ${amount}：删除后不能再兑换。`,
    ],
    usedAbout: [
      (name: string) => `“${name}” was used. The credited amount stays; only this entry is deleted.`,
      (name: string) => `“${name}”已使用。已入账的金额保留，仅删除此记录。`,
    ],
    action: ['Delete code', '删除兑换码'],
    deadTitle: ['Remove unusable codes?', '移除失效兑换码？'],
    deadAbout: [
      'Removes all used, disabled and expired codes from this list. Credited amounts stay. Disabled codes can then no longer be enabled.',
      '从列表中移除所有已使用、已停用和已过期的兑换码。已入账的金额保留。已停用的兑换码不能再启用。',
    ],
    deadAction: ['Remove codes', '移除'],
  },
  plans: {
    about: ['Configured in gateway.yaml under “plans”.', '在 gateway.yaml 的 “plans” 中配置。'],
    lasts: ['Duration', '时长'],
    days: [(days: string) => counted(days, 'day'), (days: string) => `${days} 天`],
    limits: ['Limits', '限额'],
    notSold: ['not for sale', '不出售'],
    empty: ['No plans yet', '还没有套餐'],
    emptyAbout: [
      'A plan limits the usage of a user per day, week and 30 days. Add one under “plans” in gateway.yaml.',
      '套餐按日、周和 30 天限制用户的用量。请在 gateway.yaml 的 “plans” 中添加。',
    ],
    person: ['Plan of a user', '用户的套餐'],
    whoAbout: ['Enter a name, an email address or an ID.', '输入名称、邮箱或 ID。'],
    choose: ['Select a user to see, assign or end their plan.', '选择用户，以查看、发放或终止其套餐。'],
    none: ['No plan: calls are paid from the balance.', '没有套餐：调用费用从余额中扣除。'],
    since: ['since', '开始于'],
    ended: ['ended', '结束于'],
    otherRuns: [
      (plan: string) => `${plan} is active: end it before you assign another plan.`,
      (plan: string) => `${plan} 正在生效：请先终止，再发放其他套餐。`,
    ],
    given: [(plan: string) => `Assigned the plan ${plan}.`, (plan: string) => `已发放套餐 ${plan}。`],
    endTitle: [(who: string) => `End the plan of ${who}?`, (who: string) => `终止 ${who} 的套餐？`],
    endAbout: [
      'Their calls are then paid from their balance. The rest of the plan is lost, and nothing is refunded.',
      '此后的调用费用从余额中扣除。套餐剩余部分作废，不退款。',
    ],
    endAction: ['End plan', '终止套餐'],
    endedNow: ['The plan has ended.', '套餐已终止。'],
  },
});
