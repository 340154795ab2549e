/** Texts of the usage page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  mine: [(range: string) => `What your calls cost. ${range}.`, (range: string) => `您的调用费用。${range}。`],
  all: [(range: string) => `Cost of all users’ calls. ${range}.`, (range: string) => `所有用户的调用费用。${range}。`],
  whose: ['Scope', '查看范围'],
  csvGroups: [(by: string) => `Table: by ${by}`, (by: string) => `表格：按${by}`],
  csvTrend: [(step: string) => `Chart: by ${step}`, (step: string) => `图表：按${step}`],
  figures: {
    failed: [(count: string) => `${count} refused or failed`, (count: string) => `${count} 次被拒绝或失败`],
    noRequests: ['no calls', '没有调用'],
    ofAll: [(share: string) => `${share} of all tokens`, (share: string) => `占全部 Token 的 ${share}`],
    than: [(change: string) => `${change} vs previous period`, (change: string) => `较上一周期 ${change}`],
    times: [(count: string) => `${count}× previous period`, (count: string) => `上一周期的 ${count} 倍`],
    same: ['same as previous period', '与上一周期持平'],
    none: ['no earlier data', '没有更早的数据'],
  },
  chart: {
    day: ['day', '天'],
    hour: ['hour', '小时'],
    title: { cost: ['Cost', '费用'], requests: ['Calls', '调用'], tokens: ['Tokens', 'Token'] },
    unit: { cost: ['US dollars', '美元'], requests: ['Calls', '调用次数'], tokens: ['Tokens', 'Token 数'] },
    label: [
      (measure: string, step: string, by: string) => `${measure} by ${step} and ${by}`,
      (measure: string, step: string, by: string) => `${measure}：按${step}和${by}`,
    ],
    pick: ['Select a column to zoom in.', '点击柱形可放大。'],
    measure: ['Measure', '指标'],
  },
  groups: {
    model: ['model', '模型'],
    key: ['key', '密钥'],
    account: ['user', '用户'],
    department: ['department', '部门'],
    channel: ['channel', '渠道'],
    tag: ['tag', '标签'],
  },
  titles: {
    model: ['Models', '模型'],
    key: ['Keys', '密钥'],
    account: ['Users', '用户'],
    department: ['Departments', '部门'],
    channel: ['Channels', '渠道'],
    tag: ['Tags', '标签'],
  },
  column: {
    model: ['Model', '模型'],
    key: ['Key', '密钥'],
    account: ['User', '用户'],
    department: ['Department', '部门'],
    channel: ['Channel', '渠道'],
    tag: ['Tag', '标签'],
  },
  nameless: {
    model: ['no model (refused before one was found)', '无模型（在找到模型前被拒绝）'],
    key: ['no key', '无密钥'],
    account: ['no user', '无用户'],
    department: ['no department', '无部门'],
    channel: ['no channel (refused before an attempt)', '无渠道（在请求渠道前被拒绝）'],
    tag: ['no tag', '无标签'],
  },
  open: [
    'Select a name to filter by it, or the icon at the end of a row to list its calls.',
    '点击名称可按其筛选；点击行末图标可列出其调用。',
  ],
  tagsAbout: [
    'A call counts for each of its tags. Send them in the header x-turnpike-tags: team=search, job=nightly.',
    '一次调用计入它的每个标签。通过请求头发送：x-turnpike-tags: team=search, job=nightly。',
  ],
  noTags: ['No tagged calls in this period', '这段时间没有带标签的调用'],
  logs: ['View calls in Logs', '在日志中查看调用'],
  empty: {
    title: ['No calls in this period', '这段时间没有调用'],
    mine: [
      'Calls with your keys appear here as soon as they end, with their cost.',
      '使用您的密钥发起的调用结束后会显示在这里，并附上费用。',
    ],
    all: ['Calls appear here as soon as they end, with their cost.', '调用结束后会显示在这里，并附上费用。'],
    filtered: ['No matching calls', '没有符合条件的调用'],
    filteredAbout: ['Change the filters or the period.', '请更改筛选条件或时间范围。'],
  },
});
