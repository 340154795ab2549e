/** Texts of the audit page. */
import { counted, type Pair, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'Changes and who made them, newest first. Entries cannot be changed or removed.',
    '更改及其操作者，最新的在前。记录不能修改或删除。',
  ],
  anyAction: ['Any action', '所有操作'],
  everything: [(kind: string) => `all: ${kind}`, (kind: string) => `全部：${kind}`],
  kinds: {
    'sign-in': ['Sign-in', '登录'],
    user: ['Accounts', '账户'],
    'two-factor': ['Second factor', '双重验证'],
    passkey: ['Passkeys', '通行密钥'],
    session: ['Sessions', '会话'],
    'access-token': ['Access tokens', '访问令牌'],
    'service-token': ['Service tokens', '服务令牌'],
    key: ['Keys', '密钥'],
    department: ['Departments', '部门'],
    subscription: ['Subscriptions', '订阅'],
    invitation: ['Invitations', '邀请'],
    redemption: ['Redemption codes', '兑换码'],
    order: ['Orders', '订单'],
    audit: ['Audit', '审计'],
    config: ['Config', '配置'],
  } as Readonly<Record<string, Pair>>,
  days: ['Days (UTC)', '日期（UTC）'],
  csvAloud: ['Download CSV of these entries', '下载 CSV：这些记录'],
  list: ['Entries', '记录'],
  unknown: [
    (who: string, action: string, object: string) => `${who}: ${action}${object && ` ${object}`}`,
    (who: string, action: string, object: string) => `${who}：${action}${object && ` ${object}`}`,
  ],
  unknownUser: ['Unknown', '未知用户'],
  commandLine: ['The command line', '命令行'],
  noneAbout: ['No entry matches all filters.', '没有记录符合所有筛选条件。'],
  empty: ['No entries yet', '还没有记录'],
  emptyAbout: [
    'Sign-ins and changes of keys, quota, roles and budgets appear here, with the user and the IP address.',
    '登录以及密钥、额度、角色和预算的更改会显示在这里，包括用户和 IP 地址。',
  ],
  fresh: [
    (count: string) => (count === '1' ? '1 new entry: show it' : `${count} new entries: show them`),
    (count: string) => `有 ${count} 条新记录：点击显示`,
  ],
  total: [(count: string) => `${counted(count, 'entry', 'entries')} in total`, (count: string) => `共 ${count} 条记录`],

  entry: [(seq: string) => `Entry ${seq}`, (seq: string) => `第 ${seq} 条记录`],
  object: ['Object', '对象'],
  hash: ['Hash', '哈希'],
  hashAbout: ['Hash of this entry and all entries before it.', '本条及之前所有记录的哈希。'],
  facts: ['Details', '详情'],
  noFacts: ['No details.', '没有详情。'],
  value: ['Value', '值'],
  onlyActor: ['Filter by this user', '按此用户筛选'],
  onlyAction: ['Filter by this action', '按此操作筛选'],
  open: ['Open', '打开'],

  chain: ['Hash chain', '哈希链'],
  chainAbout: [
    'Each entry has a hash of itself and all entries before it, so changing or removing one breaks the chain. For proof that does not depend on this gateway, compare the head with an external copy; the log file records it daily.',
    '每条记录都带有涵盖自身及之前所有记录的哈希，因此修改或删除任何一条都会使链断开。如需不依赖本网关的证明，请将链尾与外部副本比对；日志文件每天记录链尾。',
  ],
  chainCheck: ['Check the chain', '检查哈希链'],
  chainAgain: ['Check again', '重新检查'],
  chainBusy: [
    (done: string, all: string) => `${done} of ${counted(all, 'entry', 'entries')} checked…`,
    (done: string, all: string) => `已检查 ${done} / ${all} 条…`,
  ],
  chainWhole: [
    (count: string) => (count === '1' ? 'The only entry is consistent.' : `All ${count} entries are consistent.`),
    (count: string) => `全部 ${count} 条记录前后一致。`,
  ],
  chainBroken: [
    (seq: string, why: string) => `The chain is broken at entry ${seq}: ${why}.`,
    (seq: string, why: string) => `哈希链在第 ${seq} 条断开：${why}。`,
  ],
  chainBrokenAbout: [
    'Compare with a backup, and check who can write to the database.',
    '请与备份比对，并检查谁可以写入数据库。',
  ],
  chainHead: ['Head of the chain, for an external copy', '链尾，供外部保存'],
  chainCommand: ['Compare with a head recorded earlier', '与之前记录的链尾比对'],
});
