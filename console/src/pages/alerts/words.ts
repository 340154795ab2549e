/** The words of alerts in Chinese, from their facts; in English the gateway words them, except for amounts of money. */
import type * as api from '../../api/operations.ts';

/** What an alert says. */
interface Words {
  readonly title: string;
  readonly text: string;
}
type Facts = api.OpenAlert['facts'];
/** How numbers and times are shown: `useFormat()`. */
interface Formats {
  /** Of quota units. */
  money(units: number): string;
  percent(share: number): string;
  /** Unix seconds. */
  moment(seconds: number): string;
}
/** The facts as text; empty if missing. */
type Read = (name: string) => string;

const PERIODS: Readonly<Record<string, string>> = { day: '每日', week: '每周', month: '每月' };
const FAILURES: Readonly<Record<string, string>> = {
  connect: '无法连接',
  timeout: '超时',
  status: '错误状态',
  broken: '响应中断',
  credential: '密钥被拒绝',
  busy: '被限速',
  refused: '请求被拒绝',
};

/** How much of a budget is used, in English; undefined for other alerts, and after the condition has ended. */
export function usedOf({ about, used, limit }: Facts, format: Formats, over: boolean): string | undefined {
  if (about !== 'budget' || over) return undefined;
  return `${format.money(Number(used))} of ${format.money(Number(limit))} is used.`;
}

/** An alert in Chinese; undefined for alerts of older releases, which have no facts. `over`: the condition has ended. */
export function inChinese(facts: Facts, format: Formats, over = false): Words | undefined {
  const worded = wordsOf(facts, format);
  return over && worded !== undefined ? { title: `已解除：${worded.title}`, text: '此情况已不存在。' } : worded;
}

function wordsOf(facts: Facts, format: Formats): Words | undefined {
  const read: Read = (name) => `${facts[name] ?? ''}`;
  const name = read('name');
  const status = read('status') === '' ? '' : `，状态码 ${read('status')}`;
  switch (facts.about) {
    case 'budget': {
      const what = budgetOf(read);
      const amount = (which: string): string => format.money(Number(read(which)));
      const percent = format.percent(Number(facts.percent ?? 0) / 100);
      return { title: `${what}：已用 ${percent}`, text: `已用 ${amount('used')}，共 ${amount('limit')}。` };
    }
    case 'credential':
      return {
        title: `渠道“${name}”的密钥被拒绝`,
        text: `供应商拒绝了请求${status}。密钥可能已过期、欠费或没有权限。`,
      };
    case 'circuit': {
      const failure = read('failure');
      const last = failure === '' ? '' : `最近一次失败：${FAILURES[failure] ?? failure}${status}。`;
      return {
        title: `渠道“${name}”持续故障`,
        text: `熔断器已有 ${read('minutes')} 分钟未恢复。${last}如有其他渠道，调用会使用其他渠道。`,
      };
    }
    case 'price':
      return { title: `“${name}”的价格与公布价格不同`, text: `${read('drift')}（${read('list')}）` };
    case 'disk': {
      const room = facts.disk === undefined ? '' : `剩余 ${gigabytes(facts.free)}，共 ${gigabytes(facts.disk)}。`;
      return { title: '磁盘空间即将用完', text: `数据库所在磁盘的空间即将用完。${room}用完后，调用会被拒绝。` };
    }
    case 'backup-failed':
      return { title: '备份失败', text: `备份到 ${read('to')} 失败：${read('reason')} ${provenIn(facts, format)}` };
    case 'backup-overdue':
      return { title: '备份逾期', text: `未能按时备份到 ${read('to')}。${provenIn(facts, format)}` };
    default:
      return undefined;
  }
}

/** The name of a budget. */
function budgetOf(read: Read): string {
  const name = read('name');
  const period = PERIODS[read('period')] ?? '';
  switch (read('scope')) {
    case 'key': {
      const model = read('model') === '' ? '' : `（${read('model')}）`;
      const what = period === '' ? '额度' : `${period}预算`;
      return `${read('user')} 的密钥“${name}”的${what}${model}`;
    }
    case 'plan':
      return `${read('user')} 的套餐“${name}”的${period}限额`;
    case 'department':
      return `部门“${name}”的${period === '' ? '总' : period}预算`;
    case 'user':
      return `用户 ${name} 的${period}费用`;
    case 'channel':
      return `渠道“${name}”的${period}费用`;
    default:
      return `网关的${period}费用`;
  }
}

function provenIn(facts: Facts, format: Formats): string {
  const at = Number(facts.proven_at ?? 0);
  return at === 0 ? '还没有通过验证的备份。' : `最近一次通过验证的备份：${format.moment(at)}。`;
}

const gigabytes = (bytes: string | number | undefined): string => `${(Number(bytes ?? 0) / 1_024 ** 3).toFixed(1)} GiB`;
