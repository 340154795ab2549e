/** Texts of the logs page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  mine: [
    (range: string) => `Your calls and account events. ${range}.`,
    (range: string) => `您的调用和账户事件。${range}。`,
  ],
  all: [
    (range: string) => `Calls and events of all users. ${range}.`,
    (range: string) => `所有用户的调用和事件。${range}。`,
  ],
  whose: ['Scope', '范围'],
  lines: ['Calls and events', '调用与事件'],
  count: [
    (count: string, more: boolean) => `${more ? 'more than ' : ''}${counted(count, 'entry', 'entries')}`,
    (count: string, more: boolean) => (more ? `超过 ${count} 条` : `共 ${count} 条`),
  ],
  newer: ['Newer', '更新'],
  paging: ['Pages', '翻页'],
  fresh: [(count: string) => `${count} new`, (count: string) => `${count} 条新记录`],
  freshAbout: ['Show the newest entries', '显示最新记录'],
  timesAbout: [
    (count: string) =>
      `${counted(count, 'request')} of this key within one minute had the same outcome; this is the first`,
    (count: string) => `此密钥在一分钟内有 ${count} 次结果相同的请求；此处为第一次`,
  ],
  columns: {
    tokens: ['Tokens in / out', 'Token 输入 / 输出'],
  },
  tokensAbout: {
    cached: [
      (count: string) => `${count} of the input read from a cache`,
      (count: string) => `其中 ${count} 个输入 Token 读自缓存`,
    ],
    written: [(count: string) => `${count} written to a cache`, (count: string) => `${count} 个写入缓存`],
    reasoning: [
      (count: string) => `${count} reasoning tokens of the output`,
      (count: string) => `其中 ${count} 个输出 Token 用于推理`,
    ],
    none: ['No input was read from a cache', '没有输入 Token 读自缓存'],
  },
  kinds: {
    use: ['Calls', '调用'],
    error: ['Errors', '错误'],
    'top-up': ['Top-ups', '充值'],
    refund: ['Refunds', '退款'],
    login: ['Sign-ins', '登录'],
    manage: ['Administrator changes', '管理员更改'],
    system: ['Other events', '其他事件'],
    request: ['Other requests', '其他请求'],
  },
  kind: {
    use: ['Call', '调用'],
    error: ['Error', '错误'],
    'top-up': ['Top-up', '充值'],
    refund: ['Refund', '退款'],
    login: ['Sign-in', '登录'],
    manage: ['Administrator change', '管理员更改'],
    system: ['Event', '事件'],
    request: ['Request', '请求'],
  },
  outcomes: {
    served: ['Served', '成功'],
    refused: ['Refused', '已拒绝'],
    failed: ['Failed', '失败'],
    aborted: ['Cancelled', '已取消'],
    recovered: ['Interrupted', '已中断'],
  },
  filter: {
    open: ['Filter', '筛选'],
    kind: ['Kind', '类型'],
    keyAbout: ['The exact name of a key', '密钥的完整名称'],
    several: ['Several names match. Select one.', '有多个名称匹配：请选择一个。'],
    requestAbout: ['The value of the response header x-request-id', '即响应头 x-request-id 的值'],
    notAnId: ['A request ID has 26 letters and digits.', '请求 ID 由 26 位字母和数字组成。'],
    apply: ['Apply', '应用'],
  },
  empty: {
    filteredAbout: [
      (range: string) => `No entry of this period matches all filters: ${range}.`,
      (range: string) => `此时间范围内没有记录符合所有筛选条件：${range}。`,
    ],
    idAbout: [
      'No entry has this ID: it may be mistyped, belong to another user, or be older than the retention period. Repeated refusals within a minute are counted in the first entry.',
      '没有此 ID 的记录：可能输入有误、属于其他用户，或已超过保留期限。一分钟内重复的拒绝计入第一条记录。',
    ],
    none: ['No entries in this period', '此时间范围内没有记录'],
    noneAbout: ['Calls appear here as soon as they end, with their cost.', '调用结束后会显示在这里，并附上费用。'],
    past: ['No older entries.', '没有更早的记录。'],
  },
  live: {
    title: [(count: string) => `${count} running`, (count: string) => `${count} 个进行中`],
    show: ['Show running calls', '显示正在进行的调用'],
    none: ['No calls are running.', '目前没有进行中的调用。'],
    more: [(count: string) => `and ${count} more`, (count: string) => `以及另外 ${count} 个`],
    caption: ['Running calls', '正在进行的调用'],
    phases: {
      waiting: ['Waiting', '等待中'],
      asking: ['Waiting for the vendor', '等待供应商'],
      answering: ['Answering', '正在回答'],
    },
    unread: ['not read yet', '尚未读取'],
    attempt: [(count: string) => `attempt ${count}`, (count: string) => `第 ${count} 次尝试`],
  },
  latency: {
    title: ['Latency', '延迟'],
    show: ['Show the latency distribution', '显示延迟分布'],
    none: ['No served calls in this list', '此列表中没有成功的调用'],
    of: [(calls: string) => `the newest ${calls} served`, (calls: string) => `最近 ${calls} 次成功的调用`],
    since: [(moment: string) => `since ${moment}`, (moment: string) => `自 ${moment} 起`],
    duration: ['Whole answer', '完整回答'],
    upTo: [(time: string) => `up to ${time}`, (time: string) => `不超过 ${time}`],
    longer: [(time: string) => `over ${time}`, (time: string) => `超过 ${time}`],
    percentiles: [
      (p50: string, p95: string, p99: string) => `p50 ${p50}, p95 ${p95}, p99 ${p99}`,
      (p50: string, p95: string, p99: string) => `p50 ${p50}，p95 ${p95}，p99 ${p99}`,
    ],
    label: [(what: string, words: string) => `${what}: ${words}`, (what: string, words: string) => `${what}：${words}`],
    table: ['Show as a table', '显示为表格'],
    time: ['Time', '耗时'],
    calls: ['Calls', '调用次数'],
    others: [
      (refused: string, failed: string, left: string) =>
        `Not included: ${refused} refused, ${failed} failed, ${left} cancelled by the client.`,
      (refused: string, failed: string, left: string) =>
        `未计入：${refused} 个被拒绝，${failed} 个失败，${left} 个被客户端取消。`,
    ],
  },
});
