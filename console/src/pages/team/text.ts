/** Texts of the team page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: ['Spending of all users, and budget forecasts.', '所有用户的支出和预算预测。'],
  aboutIn: [
    (range: string) => `Spending of all users, and budget forecasts. ${range}.`,
    (range: string) => `所有用户的支出和预算预测。${range}。`,
  ],
  tabs: {
    overview: ['Overview', '概览'],
    forecast: ['Forecast', '预测'],
    budgets: ['Budgets', '预算'],
    members: ['Members', '成员'],
    models: ['Models', '模型'],
  },
  parts: ['Sections', '页面分区'],
  csvOf: [(what: string) => `Download CSV: ${what}`, (what: string) => `下载 CSV：${what}`],
  figures: {
    today: [(cost: string) => `${cost} today`, (cost: string) => `今天 ${cost}`],
    projected: [(cost: string) => `${cost} forecast`, (cost: string) => `预计 ${cost}`],
    errors: [(share: string) => `${share} refused or failed`, (share: string) => `${share} 被拒绝或失败`],
    people: ['Active users', '活跃用户'],
    keys: [(count: string) => `with ${counted(count, 'key')}`, (count: string) => `使用 ${count} 个密钥`],
    models: ['Models used', '使用的模型'],
    output: [(count: string) => `including ${count} output`, (count: string) => `其中输出 ${count}`],
  },
  trend: {
    title: {
      department: ['Cost by department', '各部门费用'],
      member: ['Cost by user', '各用户费用'],
      model: ['Cost by model', '各模型费用'],
    },
    groups: { department: ['Department', '部门'], member: ['User', '用户'], model: ['Model', '模型'] },
    unit: ['US dollars', '美元'],
  },
  nameless: {
    department: ['no department', '无部门'],
    member: ['no user', '无用户'],
    model: ['no model (refused before one was found)', '无模型（在找到模型前被拒绝）'],
  },
  open: {
    departments: ['Select a name to show only this department.', '点击名称可只显示该部门。'],
    usage: ['Select a name to show its usage.', '点击名称可查看其用量。'],
  },
  budgets: {
    title: ['Budgets', '预算'],
    about: [
      'Spending includes departments below, but not the reservations of running calls.',
      '支出包含下级部门，不包含进行中的调用的预留额度。',
    ],
    period: ['Period', '周期'],
    total: ['total', '总计'],
    left: ['Left', '剩余'],
    share: ['Used (%)', '使用比例'],
    spent: ['Spent in range', '所选时间内支出'],
  },
  forecast: {
    title: ['This month by department', '本月，按部门'],
    about: [
      'Spending this month (UTC), plus the mean of the last seven full days for each remaining day.',
      '本月（UTC）至今的支出，加上剩余天数按最近七个完整日的日均计算。',
    ],
    spent: ['Spent so far', '目前支出'],
    mean: ['Per day', '日均'],
    meanOf: [(long: string) => `28-day mean: ${long}`, (long: string) => `28 天日均：${long}`],
    projected: ["At the month's end", '月底预计'],
    total: ['total', '总计'],
    month: ['monthly', '每月'],
    none: ['no budget', '无预算'],
    state: ['Outlook', '展望'],
    words: {
      within: ['within budget', '预算充足'],
      tight: ['tight', '预算紧张'],
      over: ['over budget', '将超预算'],
      used: ['used up', '已用完'],
    },
    uncertain: ['uncertain', '不确定'],
    why: ['Based on fewer than seven full days; low confidence.', '完整日不足七天，可信度低。'],
    out: ['Runs out', '用完日期'],
    lasts: ['lasts', '够用'],
    show: ['Select a name to show its chart.', '点击名称可查看图表。'],
  },
  burn: {
    title: [(name: string) => `Budget forecast: ${name}`, (name: string) => `预算预测：${name}`],
    spending: [(name: string) => `Month forecast: ${name}`, (name: string) => `本月预测：${name}`],
    left: ['Remaining budget', '剩余预算'],
    spent: ['Spent this month', '本月累计支出'],
    ahead: ['Forecast', '预测'],
    even: ['Even spending', '平均支出'],
    budget: ['Budget', '预算'],
    unit: ["US dollars at each day's end", '美元，每日结束时'],
    monthBudget: ['Monthly budget', '月度预算'],
  },
  empty: {
    calls: ['No calls in this period', '这段时间没有调用'],
    callsAbout: [
      'Calls appear here as soon as they end. Choose another period or department.',
      '调用结束后会显示在这里。请选择其他时间范围或部门。',
    ],
    departmentsAbout: [
      'Add users to departments and set budgets to see how long they last.',
      '将用户添加到部门并设置预算，即可查看预算可用多久。',
    ],
    toDepartments: ['Open Departments', '打开“部门”'],
  },
});
