/** Texts of the alerts page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'Budgets that are nearly used, failing channels, differing prices, disk and backups. The section alerts of gateway.yaml sets the rules and the targets.',
    '即将用完的预算、故障渠道、价格差异、磁盘与备份。通知的内容和接收方在 gateway.yaml 的 alerts 一节中设置。',
  ],
  edit: ['Edit rules', '编辑规则'],
  test: ['Send test message', '发送测试消息'],
  accepted: [(target: string) => `${target}: accepted`, (target: string) => `${target}：已接收`],
  notAccepted: [
    (target: string, why: string) => `${target}: ${why}`,
    (target: string, why: string) => `${target}：${why}`,
  ],
  open: ['Open alerts', '未解除的警报'],
  noneOpen: ['No open alerts', '没有警报'],
  noneOpenAbout: [
    'No budget has reached a level, and no condition needs attention.',
    '没有预算达到提醒比例，也没有需要处理的情况。',
  ],
  alert: ['Alert', '警报'],
  kind: ['Kind', '类别'],
  kinds: {
    budget: ['Budget', '预算'],
    vendor: ['Channel', '渠道'],
    price: ['Price', '价格'],
    disk: ['Disk', '磁盘'],
    backup: ['Backup', '备份'],
  },
  since: ['Since', '开始于'],
  resets: ['Resets', '重置于'],
  level: [(percent: string) => `${percent} used`, (percent: string) => `已用 ${percent}`],
  isOpen: ['open', '未解除'],
  targets: ['Targets', '接收方'],
  noTargets: ['No targets', '没有接收方'],
  noTargetsAbout: [
    'Alerts are shown on this page only. Add targets to alerts.to in gateway.yaml.',
    '警报仅显示在此页面。请在 gateway.yaml 的 alerts.to 中添加接收方。',
  ],
  target: ['Target', '接收方'],
  types: {
    mail: ['Email', '邮件'],
    webhook: ['Webhook', 'Webhook'],
    slack: ['Slack', 'Slack'],
    feishu: ['Feishu / Lark', '飞书'],
    dingtalk: ['DingTalk', '钉钉'],
    wecom: ['WeCom', '企业微信'],
  },
  works: ['Works', '正常'],
  fails: ['Failing', '故障'],
  waiting: ['Waiting', '待发送'],
  sent: ['Last delivery', '上次送达'],
  never: ['none', '无'],
  quietNow: [
    (time: string) => `Quiet time (${time}): alerts are sent after it.`,
    (time: string) => `免打扰时段（${time}）：警报将在结束后发送。`,
  ],
  quiet: [
    (time: string) => `Quiet time: ${time}. Alerts of that time are sent after it.`,
    (time: string) => `免打扰时段：${time}。该时段的警报将在结束后发送。`,
  ],
  history: ['Events', '记录'],
  noHistory: ['No events', '没有记录'],
  noHistoryAbout: ['No alerts were sent in the last 90 days.', '近 90 天没有发出通知。'],
  delivery: ['Delivery', '送达'],
  over: ['over', '已解除'],
  owner: ['owner', '所有者'],
  states: { waiting: ['waiting', '待发送'], sent: ['sent', '已送达'], failed: ['failed', '失败'] },
  nowhere: ['console only', '仅控制台'],
});
