/** What the entries of the audit log say, as sentences: one for each action that the gateway knows, in both languages. */
import { texts } from '../../text.ts';

/** What a sentence is made of. */
export interface Said {
  /** Who did it. */
  readonly who: string;
  /** What it was done to: a name, or as the log has it. */
  readonly whom: string;
  /** It was their own account. */
  readonly own: boolean;
  /** A fact as a text; empty where there is none. */
  fact(name: string): string;
  /** A fact in quota units as money. */
  money(name: string): string;
  /** Which fields were changed, in words. */
  readonly fields: string;
}

type Sentence = (said: Said) => string;

/** The roles as the log has them. */
const ROLES = { member: '成员', admin: '管理员', root: 'root' } as Readonly<Record<string, string>>;
const role = (name: string): string => (name === 'admin' ? 'administrator' : name);
const roleZh = (name: string): string => ROLES[name] ?? name;
const because = (reason: string): string => (reason === '' ? '' : `: ${reason}`);
const becauseZh = (reason: string): string => (reason === '' ? '' : `：${reason}`);
const within = (fields: string): string => (fields === '' ? '' : ` (${fields})`);
const withinZh = (fields: string): string => (fields === '' ? '' : `（${fields}）`);

const EN = {
  'sign-in.ok': ({ who, fact }) => `${who} signed in${fact('method') && ` (${fact('method')})`}`,
  'sign-in.failed': ({ whom, fact }) =>
    `A sign-in${whom && ` as ${whom}`} failed${fact('method') && ` (${fact('method')})`}`,
  'user.create': ({ who, whom, fact }) => `${who} made the account ${whom}${fact('role') && `, ${role(fact('role'))}`}`,
  'user.register': ({ who, fact }) => `${who} registered${fact('provider') && ` with ${fact('provider')}`}`,
  'user.change': ({ who, whom, own, fields }) =>
    own ? `${who} changed their profile${within(fields)}` : `${who} changed the account ${whom}${within(fields)}`,
  'user.password': ({ who, whom, own }) =>
    own ? `${who} changed their password` : `${who} set a new password for ${whom}`,
  'user.password-reset': ({ who }) => `${who} reset their password by email`,
  'user.delete': ({ who, whom, own, fact }) =>
    own ? `${who} deleted their account` : `${who} deleted the account ${whom}${because(fact('reason'))}`,
  'user.enable': ({ who, whom, fact }) => `${who} enabled ${whom}${because(fact('reason'))}`,
  'user.disable': ({ who, whom, fact }) => `${who} disabled ${whom}${because(fact('reason'))}`,
  'user.role': ({ who, whom, fact }) => `${who} made ${whom} ${role(fact('to'))}${because(fact('reason'))}`,
  'user.quota': ({ who, whom, fact, money }) =>
    `${
      {
        subtract: `${who} took ${money('value')} from ${whom}`,
        override: `${who} set the balance of ${whom} to ${money('value')}`,
      }[fact('mode')] ?? `${who} gave ${whom} ${money('value')}`
    }${because(fact('reason'))}`,
  'user.bind': ({ who, fact }) => `${who} linked ${fact('provider')} to their account`,
  'user.unbind': ({ who, whom, own, fact }) =>
    own ? `${who} unlinked ${fact('provider')}` : `${who} unlinked ${fact('provider')} from ${whom}`,
  'two-factor.enable': ({ who }) => `${who} enabled two-factor authentication`,
  'two-factor.disable': ({ who }) => `${who} disabled two-factor authentication`,
  'two-factor.backup-codes': ({ who }) => `${who} generated new backup codes`,
  'two-factor.reset': ({ who, whom }) => `${who} reset the authenticator of ${whom}`,
  'two-factor.locked': ({ whom }) => `Too many incorrect codes: the second factor of ${whom} was temporarily locked`,
  'passkey.add': ({ who }) => `${who} added a passkey`,
  'passkey.remove': ({ who }) => `${who} removed their passkey`,
  'passkey.reset': ({ who, whom }) => `${who} reset the passkey of ${whom}`,
  'passkey.counter': ({ whom }) => `The passkey of ${whom} may have been cloned: its counter decreased`,
  'session.end': ({ who, whom, own }) => (own ? `${who} ended another session` : `${who} signed ${whom} out`),
  'session.end-others': ({ who }) => `${who} ended all other sessions`,
  'access-token.renew': ({ who }) => `${who} created a new access token`,
  'access-token.revoke': ({ who }) => `${who} removed their access token`,
  'key.create': ({ who, whom }) => `${who} created the key ${whom}`,
  'key.change': ({ who, whom, fields }) => `${who} changed the key ${whom}${within(fields)}`,
  'key.delete': ({ who, whom }) => `${who} deleted the key ${whom}`,
  'key.rotate': ({ who, whom }) => `${who} rotated the key ${whom}`,
  'department.create': ({ who, whom }) => `${who} created the department ${whom}`,
  'department.change': ({ who, whom, fields }) => `${who} changed the department ${whom}${within(fields)}`,
  'department.delete': ({ who, whom, fact }) => `${who} deleted the department ${fact('name') || whom}`,
  'department.recharge': ({ who, whom, money }) => `${who} added ${money('amount')} to the budget of ${whom}`,
  'department.join': ({ who, whom, fact }) => `${who} added ${whom} to ${fact('department')}`,
  'department.leave': ({ who, whom, fact }) => `${who} removed ${whom} from ${fact('department')}`,
  'subscription.grant': ({ who, whom, fact }) => `${who} gave ${whom} the plan ${fact('plan')}`,
  'subscription.cancel': ({ who, whom }) => `${who} ended the subscription of ${whom}`,
  'invitation.create': ({ who, fact }) => `${who} created an invitation, valid for ${fact('days')} days`,
  'invitation.revoke': ({ who, whom }) => `${who} revoked the ${whom}`,
  'redemption.create': ({ who, fact, money }) =>
    `${who} created ${fact('count')} redemption codes “${fact('name')}” of ${money('quota')}`,
  'redemption.change': ({ who, whom }) => `${who} changed the ${whom}`,
  'redemption.remove': ({ who, whom, fact }) =>
    `${who} removed ${whom ? `the ${whom}` : `${fact('count')} redemption codes`}`,
  'redemption.redeem': ({ who, money }) => `${who} redeemed a code of ${money('quota')}`,
  'order.paid': ({ whom, fact }) => `The ${whom} was paid: ${fact('money')} by ${fact('provider')}`,
  'order.paid-twice': ({ whom, fact }) => `The ${whom} was paid a second time by ${fact('provider')}`,
  'order.parked': ({ whom }) => `The ${whom} was paid but could not be credited yet`,
  'order.waiting': ({ whom }) => `The ${whom} is waiting for an earlier event`,
  'order.completed': ({ who, whom }) => `${who} completed the ${whom}`,
  'order.refunded': ({ whom, fact }) => `Refund for the ${whom}: ${fact('returned')}`,
  'order.disputed': ({ whom, fact }) => `The ${whom} is disputed: ${fact('returned')}`,
  'order.dispute-won': ({ whom }) => `The dispute about the ${whom} was won`,
  'order.refused': ({ whom, fact }) => `A notification does not match the ${whom}${because(fact('reason'))}`,
  'order.forged': ({ whom, fact }) => `A forged ${whom} was refused${because(fact('reason'))}`,
  'prompt.read': ({ who, whom }) => `${who} read the prompt and answer of the ${whom}`,
  'audit.export': ({ who, fact }) => `${who} exported ${fact('entries')} entries of the audit log`,
  'config.reload': ({ who }) => `${who} reloaded gateway.yaml`,
} as const satisfies Readonly<Record<string, Sentence>>;

/** An action that has a sentence. */
export type KnownAction = keyof typeof EN;

const ZH: Readonly<Record<KnownAction, Sentence>> = {
  'sign-in.ok': ({ who, fact }) => `${who} 登录了${fact('method') && `（${fact('method')}）`}`,
  'sign-in.failed': ({ whom, fact }) =>
    `有人登录${whom && ` ${whom} `}失败${fact('method') && `（${fact('method')}）`}`,
  'user.create': ({ who, whom, fact }) => `${who} 创建了账户 ${whom}${fact('role') && `，${roleZh(fact('role'))}`}`,
  'user.register': ({ who, fact }) => `${who} 注册了账户${fact('provider') && `（${fact('provider')}）`}`,
  'user.change': ({ who, whom, own, fields }) =>
    own ? `${who} 修改了自己的资料${withinZh(fields)}` : `${who} 修改了账户 ${whom}${withinZh(fields)}`,
  'user.password': ({ who, whom, own }) => (own ? `${who} 修改了自己的密码` : `${who} 为 ${whom} 设置了新密码`),
  'user.password-reset': ({ who }) => `${who} 通过邮件重置了密码`,
  'user.delete': ({ who, whom, own, fact }) =>
    own ? `${who} 删除了自己的账户` : `${who} 删除了账户 ${whom}${becauseZh(fact('reason'))}`,
  'user.enable': ({ who, whom, fact }) => `${who} 启用了 ${whom}${becauseZh(fact('reason'))}`,
  'user.disable': ({ who, whom, fact }) => `${who} 停用了 ${whom}${becauseZh(fact('reason'))}`,
  'user.role': ({ who, whom, fact }) => `${who} 将 ${whom} 设为${roleZh(fact('to'))}${becauseZh(fact('reason'))}`,
  'user.quota': ({ who, whom, fact, money }) =>
    `${
      {
        subtract: `${who} 从 ${whom} 扣减了 ${money('value')}`,
        override: `${who} 将 ${whom} 的余额设为 ${money('value')}`,
      }[fact('mode')] ?? `${who} 给 ${whom} 增加了 ${money('value')}`
    }${becauseZh(fact('reason'))}`,
  'user.bind': ({ who, fact }) => `${who} 关联了 ${fact('provider')}`,
  'user.unbind': ({ who, whom, own, fact }) =>
    own ? `${who} 解除了与 ${fact('provider')} 的关联` : `${who} 解除了 ${whom} 与 ${fact('provider')} 的关联`,
  'two-factor.enable': ({ who }) => `${who} 启用了两步验证`,
  'two-factor.disable': ({ who }) => `${who} 停用了两步验证`,
  'two-factor.backup-codes': ({ who }) => `${who} 生成了新的备用码`,
  'two-factor.reset': ({ who, whom }) => `${who} 重置了 ${whom} 的验证器`,
  'two-factor.locked': ({ whom }) => `错误的验证码过多：${whom} 的两步验证被暂时锁定`,
  'passkey.add': ({ who }) => `${who} 添加了通行密钥`,
  'passkey.remove': ({ who }) => `${who} 移除了自己的通行密钥`,
  'passkey.reset': ({ who, whom }) => `${who} 重置了 ${whom} 的通行密钥`,
  'passkey.counter': ({ whom }) => `${whom} 的通行密钥可能被复制：其计数器倒退了`,
  'session.end': ({ who, whom, own }) => (own ? `${who} 在另一处退出了登录` : `${who} 让 ${whom} 退出了登录`),
  'session.end-others': ({ who }) => `${who} 在其他所有位置退出了登录`,
  'access-token.renew': ({ who }) => `${who} 生成了新的访问令牌`,
  'access-token.revoke': ({ who }) => `${who} 移除了自己的访问令牌`,
  'key.create': ({ who, whom }) => `${who} 创建了密钥 ${whom}`,
  'key.change': ({ who, whom, fields }) => `${who} 修改了密钥 ${whom}${withinZh(fields)}`,
  'key.delete': ({ who, whom }) => `${who} 删除了密钥 ${whom}`,
  'key.rotate': ({ who, whom }) => `${who} 更换了密钥 ${whom}`,
  'department.create': ({ who, whom }) => `${who} 创建了部门 ${whom}`,
  'department.change': ({ who, whom, fields }) => `${who} 修改了部门 ${whom}${withinZh(fields)}`,
  'department.delete': ({ who, whom, fact }) => `${who} 删除了部门 ${fact('name') || whom}`,
  'department.recharge': ({ who, whom, money }) => `${who} 为 ${whom} 的预算追加了 ${money('amount')}`,
  'department.join': ({ who, whom, fact }) => `${who} 将 ${whom} 加入 ${fact('department')}`,
  'department.leave': ({ who, whom, fact }) => `${who} 将 ${whom} 移出 ${fact('department')}`,
  'subscription.grant': ({ who, whom, fact }) => `${who} 为 ${whom} 发放了套餐 ${fact('plan')}`,
  'subscription.cancel': ({ who, whom }) => `${who} 终止了 ${whom} 的订阅`,
  'invitation.create': ({ who, fact }) => `${who} 创建了一个邀请，有效期 ${fact('days')} 天`,
  'invitation.revoke': ({ who, whom }) => `${who} 撤销了邀请（${whom}）`,
  'redemption.create': ({ who, fact, money }) =>
    `${who} 创建了 ${fact('count')} 个兑换码“${fact('name')}”，每个 ${money('quota')}`,
  'redemption.change': ({ who, whom }) => `${who} 修改了兑换码（${whom}）`,
  'redemption.remove': ({ who, whom, fact }) =>
    whom === '' ? `${who} 移除了 ${fact('count')} 个兑换码` : `${who} 移除了兑换码（${whom}）`,
  'redemption.redeem': ({ who, money }) => `${who} 兑换了 ${money('quota')}`,
  'order.paid': ({ whom, fact }) => `订单已支付（${whom}）：${fact('provider')} ${fact('money')}`,
  'order.paid-twice': ({ whom, fact }) => `订单被 ${fact('provider')} 再次支付（${whom}）`,
  'order.parked': ({ whom }) => `订单已支付，但暂时无法入账（${whom}）`,
  'order.waiting': ({ whom }) => `订单在等待前置通知（${whom}）`,
  'order.completed': ({ who, whom }) => `${who} 完成了订单（${whom}）`,
  'order.refunded': ({ whom, fact }) => `订单已退款 ${fact('returned')}（${whom}）`,
  'order.disputed': ({ whom, fact }) => `订单有争议 ${fact('returned')}（${whom}）`,
  'order.dispute-won': ({ whom }) => `订单争议已胜出（${whom}）`,
  'order.refused': ({ whom, fact }) => `收到与订单不符的通知（${whom}）${becauseZh(fact('reason'))}`,
  'order.forged': ({ whom, fact }) => `有人发送了伪造的通知（${whom}）${becauseZh(fact('reason'))}`,
  'prompt.read': ({ who, whom }) => `${who} 查看了一次调用的提示词和回答（${whom}）`,
  'audit.export': ({ who, fact }) => `${who} 导出了 ${fact('entries')} 条审计日志`,
  'config.reload': ({ who }) => `${who} 重新加载了 gateway.yaml`,
};

/** The sentences. */
export const SENTENCES = texts<Readonly<Record<KnownAction, Sentence>>>(EN, ZH);

/** All that are known, by what they are about. */
export const ACTIONS = Object.keys(EN) as readonly KnownAction[];

/** What fields are called. */
export const FIELDS = texts(
  {
    name: 'name',
    username: 'name',
    displayName: 'display name',
    email: 'email address',
    group: 'group',
    remark: 'remark',
    settings: 'settings',
    parent_id: 'parent department',
    quota: 'total budget',
    monthly_quota: 'monthly budget',
    ratio: 'price factor',
    status: 'state',
    remain_quota: 'limit',
    unlimited_quota: 'limit',
    expired_time: 'expiry',
    model_limits: 'models',
    model_limits_enabled: 'models',
    allow_ips: 'addresses',
  } as Readonly<Record<string, string>>,
  {
    name: '名称',
    username: '名称',
    displayName: '显示名称',
    email: '邮箱',
    group: '分组',
    remark: '备注',
    settings: '设置',
    parent_id: '上级部门',
    quota: '总预算',
    monthly_quota: '每月预算',
    ratio: '价格倍率',
    status: '状态',
    remain_quota: '限额',
    unlimited_quota: '限额',
    expired_time: '有效期',
    model_limits: '模型',
    model_limits_enabled: '模型',
    allow_ips: '地址',
  },
);
