/** Audit actions as sentences in both languages: one for each action of the gateway. */
import { type Pair, texts, translated } from '../../text.ts';

/** The values of a sentence. */
export interface SentenceValues {
  /** The actor. */
  readonly actor: string;
  /** The object: its name, or its identifier in the audit log. */
  readonly object: string;
  /** True if the actor changed their own account. */
  readonly own: boolean;
  /** A detail as text; empty if missing. */
  fact(name: string): string;
  /** A detail in quota units as money. */
  money(name: string): string;
  /** The changed fields in words. */
  readonly fields: string;
  /** Whether the object is enabled now, if nothing else of it was changed. */
  readonly enabled: boolean | undefined;
}

type Sentence = (values: SentenceValues) => string;

/** The roles as the audit log names them. */
const ROLES = { member: '成员', admin: '管理员', root: 'root' } as Readonly<Record<string, string>>;
const role = (name: string): string => (name === 'admin' ? 'administrator' : name);
const roleZh = (name: string): string => ROLES[name] ?? name;
const because = (reason: string): string => (reason === '' ? '' : `: ${reason}`);
const becauseZh = (reason: string): string => (reason === '' ? '' : `：${reason}`);
const within = (fields: string): string => (fields === '' ? '' : ` (${fields})`);
const withinZh = (fields: string): string => (fields === '' ? '' : `（${fields}）`);

const EN = {
  'sign-in.ok': ({ actor, fact }) => `${actor} signed in${fact('method') && ` (${fact('method')})`}`,
  'sign-in.failed': ({ object, fact }) =>
    `A sign-in${object && ` as ${object}`} failed${fact('method') && ` (${fact('method')})`}`,
  'user.create': ({ actor, object, fact }) =>
    `${actor} created the account ${object}${fact('role') && `, ${role(fact('role'))}`}`,
  'user.register': ({ actor, fact }) => `${actor} registered${fact('provider') && ` with ${fact('provider')}`}`,
  'user.change': ({ actor, object, own, fields }) =>
    own ? `${actor} changed their profile${within(fields)}` : `${actor} changed the account ${object}${within(fields)}`,
  'user.password': ({ actor, object, own }) =>
    own ? `${actor} changed their password` : `${actor} set a new password for ${object}`,
  'user.password-reset': ({ actor }) => `${actor} reset their password by email`,
  'user.password-link': ({ actor, object }) => `${actor} made a link for a new password of ${object}`,
  'user.delete': ({ actor, object, own, fact }) =>
    own ? `${actor} deleted their account` : `${actor} deleted the account ${object}${because(fact('reason'))}`,
  'user.enable': ({ actor, object, fact }) => `${actor} enabled ${object}${because(fact('reason'))}`,
  'user.disable': ({ actor, object, fact }) => `${actor} disabled ${object}${because(fact('reason'))}`,
  'user.role': ({ actor, object, fact }) => `${actor} made ${object} ${role(fact('to'))}${because(fact('reason'))}`,
  'user.quota': ({ actor, object, fact, money }) =>
    `${
      {
        subtract: `${actor} deducted ${money('value')} from the balance of ${object}`,
        override: `${actor} set the balance of ${object} to ${money('value')}`,
      }[fact('mode')] ?? `${actor} added ${money('value')} to the balance of ${object}`
    }${because(fact('reason'))}`,
  'user.export': ({ actor }) => `${actor} exported the list of users`,
  'key.export': ({ actor }) => `${actor} exported the list of keys`,
  'order.export': ({ actor }) => `${actor} exported the list of orders`,
  'user.bind': ({ actor, fact }) => `${actor} linked ${fact('provider')} to their account`,
  'user.billing': ({ actor }) => `${actor} changed their billing details`,
  'user.unbind': ({ actor, object, own, fact }) =>
    own ? `${actor} unlinked ${fact('provider')}` : `${actor} unlinked ${fact('provider')} from ${object}`,
  'two-factor.enable': ({ actor }) => `${actor} enabled two-factor authentication`,
  'two-factor.disable': ({ actor }) => `${actor} disabled two-factor authentication`,
  'two-factor.backup-codes': ({ actor }) => `${actor} generated new backup codes`,
  'two-factor.reset': ({ actor, object }) => `${actor} reset the authenticator of ${object}`,
  'two-factor.locked': ({ object }) =>
    `Too many incorrect codes: the second factor of ${object} was temporarily locked`,
  'passkey.add': ({ actor }) => `${actor} added a passkey`,
  'passkey.remove': ({ actor }) => `${actor} removed their passkey`,
  'passkey.reset': ({ actor, object }) => `${actor} reset the passkey of ${object}`,
  'passkey.counter': ({ object }) => `The passkey of ${object} may have been cloned: its counter decreased`,
  'session.end': ({ actor, object, own }) =>
    own ? `${actor} ended another session` : `${actor} ended a session of ${object}`,
  'session.end-others': ({ actor }) => `${actor} ended all other sessions`,
  'access-token.renew': ({ actor }) => `${actor} created a new access token`,
  'access-token.revoke': ({ actor }) => `${actor} removed their access token`,
  'service-token.create': ({ actor, fact }) => `${actor} created the service token ${fact('name')}`,
  'service-token.revoke': ({ actor, object, fact }) => `${actor} revoked the service token ${fact('name') || object}`,
  'key.create': ({ actor, object }) => `${actor} created the key ${object}`,
  'key.change': ({ actor, object, fields, enabled }) =>
    enabled === undefined
      ? `${actor} changed the key ${object}${within(fields)}`
      : `${actor} ${enabled ? 'enabled' : 'disabled'} the key ${object}`,
  'key.delete': ({ actor, object }) => `${actor} deleted the key ${object}`,
  'key.rotate': ({ actor, object }) => `${actor} rotated the key ${object}`,
  'department.create': ({ actor, object }) => `${actor} created the department ${object}`,
  'department.change': ({ actor, object, fields }) => `${actor} changed the department ${object}${within(fields)}`,
  'department.delete': ({ actor, object, fact }) => `${actor} deleted the department ${fact('name') || object}`,
  'department.recharge': ({ actor, object, money }) => `${actor} added ${money('amount')} to the budget of ${object}`,
  'department.join': ({ actor, object, fact }) => `${actor} added ${object} to ${fact('department')}`,
  'department.leave': ({ actor, object, fact }) => `${actor} removed ${object} from ${fact('department')}`,
  'subscription.grant': ({ actor, object, fact }) => `${actor} assigned the plan ${fact('plan')} to ${object}`,
  'subscription.cancel': ({ actor, object }) => `${actor} ended the subscription of ${object}`,
  'invitation.create': ({ actor, fact }) =>
    fact('email') === ''
      ? `${actor} created an invitation, valid for ${fact('days')} days`
      : `${actor} invited ${fact('email')}`,
  'invitation.resend': ({ actor, object }) => `${actor} sent the ${object} again`,
  'invitation.revoke': ({ actor, object }) => `${actor} revoked the ${object}`,
  'redemption.create': ({ actor, fact, money }) =>
    `${actor} created ${fact('count')} redemption codes “${fact('name')}” of ${money('quota')}`,
  'redemption.change': ({ actor, object }) => `${actor} changed the ${object}`,
  'redemption.remove': ({ actor, object, fact }) =>
    `${actor} removed ${object ? `the ${object}` : `${fact('count')} redemption codes`}`,
  'redemption.redeem': ({ actor, money }) => `${actor} redeemed a code of ${money('quota')}`,
  'order.paid': ({ object, fact }) => `The ${object} was paid: ${fact('money')} by ${fact('provider')}`,
  'order.paid-twice': ({ object, fact }) => `The ${object} was paid a second time by ${fact('provider')}`,
  'order.parked': ({ object }) => `The ${object} was paid but could not be credited yet`,
  'order.waiting': ({ object }) => `The ${object} is waiting for an earlier event`,
  'order.completed': ({ actor, object }) => `${actor} completed the ${object}`,
  'order.refunded': ({ object, fact }) => `Refund for the ${object}: ${fact('returned')}`,
  'order.disputed': ({ object, fact }) => `The ${object} is disputed: ${fact('returned')}`,
  'order.dispute-won': ({ object }) => `The dispute about the ${object} was won`,
  'order.refused': ({ object, fact }) => `A notification does not match the ${object}${because(fact('reason'))}`,
  'order.forged': ({ object, fact }) => `A forged ${object} was refused${because(fact('reason'))}`,
  'prompt.read': ({ actor, object }) => `${actor} read the prompt and answer of the ${object}`,
  'audit.export': ({ actor, fact }) => `${actor} exported ${fact('entries')} entries of the audit log`,
  'config.reload': ({ actor }) => `${actor} reloaded gateway.yaml`,
  'backup.start': ({ actor }) => `${actor} started a backup`,
  'prices.update': ({ actor, fact }) => `${actor} took over ${fact('count')} published prices`,
  'config.save': ({ actor, fact }) =>
    `${actor} saved version ${fact('version')} of the configuration${because(fact('note'))}`,
  'config.restore': ({ actor, fact }) =>
    `${actor} restored version ${fact('from')} of the configuration as version ${fact('version')}`,
  'config.try': ({ actor, object }) => `${actor} tested the ${object} of a configuration that is not saved`,
  'config.secret.set': ({ actor, object }) => `${actor} set the ${object} of the configuration`,
  'config.secret.delete': ({ actor, object }) => `${actor} deleted the ${object} of the configuration`,
} as const satisfies Readonly<Record<string, Sentence>>;

/** An action that has a sentence. */
export type KnownAction = keyof typeof EN;

const ZH: Readonly<Record<KnownAction, Sentence>> = {
  'sign-in.ok': ({ actor, fact }) => `${actor} 登录了${fact('method') && `（${fact('method')}）`}`,
  'sign-in.failed': ({ object, fact }) =>
    `登录${object && ` ${object} `}失败${fact('method') && `（${fact('method')}）`}`,
  'user.create': ({ actor, object, fact }) =>
    `${actor} 创建了账户 ${object}${fact('role') && `，${roleZh(fact('role'))}`}`,
  'user.register': ({ actor, fact }) => `${actor} 注册了账户${fact('provider') && `（${fact('provider')}）`}`,
  'user.change': ({ actor, object, own, fields }) =>
    own ? `${actor} 修改了自己的资料${withinZh(fields)}` : `${actor} 修改了账户 ${object}${withinZh(fields)}`,
  'user.password': ({ actor, object, own }) =>
    own ? `${actor} 修改了自己的密码` : `${actor} 为 ${object} 设置了新密码`,
  'user.password-reset': ({ actor }) => `${actor} 通过邮件重置了密码`,
  'user.password-link': ({ actor, object }) => `${actor} 为 ${object} 创建了设置新密码的链接`,
  'user.delete': ({ actor, object, own, fact }) =>
    own ? `${actor} 删除了自己的账户` : `${actor} 删除了账户 ${object}${becauseZh(fact('reason'))}`,
  'user.enable': ({ actor, object, fact }) => `${actor} 启用了 ${object}${becauseZh(fact('reason'))}`,
  'user.disable': ({ actor, object, fact }) => `${actor} 停用了 ${object}${becauseZh(fact('reason'))}`,
  'user.role': ({ actor, object, fact }) =>
    `${actor} 将 ${object} 设为${roleZh(fact('to'))}${becauseZh(fact('reason'))}`,
  'user.quota': ({ actor, object, fact, money }) =>
    `${
      {
        subtract: `${actor} 从 ${object} 的余额扣减了 ${money('value')}`,
        override: `${actor} 将 ${object} 的余额设为 ${money('value')}`,
      }[fact('mode')] ?? `${actor} 为 ${object} 的余额增加了 ${money('value')}`
    }${becauseZh(fact('reason'))}`,
  'user.export': ({ actor }) => `${actor} 导出了用户列表`,
  'key.export': ({ actor }) => `${actor} 导出了密钥列表`,
  'order.export': ({ actor }) => `${actor} 导出了订单列表`,
  'user.bind': ({ actor, fact }) => `${actor} 关联了 ${fact('provider')}`,
  'user.billing': ({ actor }) => `${actor} 更改了自己的开票信息`,
  'user.unbind': ({ actor, object, own, fact }) =>
    own ? `${actor} 解除了与 ${fact('provider')} 的关联` : `${actor} 解除了 ${object} 与 ${fact('provider')} 的关联`,
  'two-factor.enable': ({ actor }) => `${actor} 启用了双重验证`,
  'two-factor.disable': ({ actor }) => `${actor} 停用了双重验证`,
  'two-factor.backup-codes': ({ actor }) => `${actor} 生成了新的备用码`,
  'two-factor.reset': ({ actor, object }) => `${actor} 重置了 ${object} 的身份验证器`,
  'two-factor.locked': ({ object }) => `错误的验证码过多：${object} 的双重验证被暂时锁定`,
  'passkey.add': ({ actor }) => `${actor} 添加了通行密钥`,
  'passkey.remove': ({ actor }) => `${actor} 移除了自己的通行密钥`,
  'passkey.reset': ({ actor, object }) => `${actor} 重置了 ${object} 的通行密钥`,
  'passkey.counter': ({ object }) => `${object} 的通行密钥可能被复制：其计数器倒退了`,
  'session.end': ({ actor, object, own }) =>
    own ? `${actor} 结束了另一个会话` : `${actor} 结束了 ${object} 的一个会话`,
  'session.end-others': ({ actor }) => `${actor} 结束了所有其他会话`,
  'access-token.renew': ({ actor }) => `${actor} 创建了新的访问令牌`,
  'access-token.revoke': ({ actor }) => `${actor} 移除了自己的访问令牌`,
  'service-token.create': ({ actor, fact }) => `${actor} 创建了服务令牌 ${fact('name')}`,
  'service-token.revoke': ({ actor, object, fact }) => `${actor} 撤销了服务令牌 ${fact('name') || object}`,
  'key.create': ({ actor, object }) => `${actor} 创建了密钥 ${object}`,
  'key.change': ({ actor, object, fields, enabled }) =>
    enabled === undefined
      ? `${actor} 修改了密钥 ${object}${withinZh(fields)}`
      : `${actor} ${enabled ? '启用' : '禁用'}了密钥 ${object}`,
  'key.delete': ({ actor, object }) => `${actor} 删除了密钥 ${object}`,
  'key.rotate': ({ actor, object }) => `${actor} 轮换了密钥 ${object}`,
  'department.create': ({ actor, object }) => `${actor} 创建了部门 ${object}`,
  'department.change': ({ actor, object, fields }) => `${actor} 修改了部门 ${object}${withinZh(fields)}`,
  'department.delete': ({ actor, object, fact }) => `${actor} 删除了部门 ${fact('name') || object}`,
  'department.recharge': ({ actor, object, money }) => `${actor} 为 ${object} 的预算追加了 ${money('amount')}`,
  'department.join': ({ actor, object, fact }) => `${actor} 将 ${object} 加入 ${fact('department')}`,
  'department.leave': ({ actor, object, fact }) => `${actor} 将 ${object} 移出 ${fact('department')}`,
  'subscription.grant': ({ actor, object, fact }) => `${actor} 为 ${object} 发放了套餐 ${fact('plan')}`,
  'subscription.cancel': ({ actor, object }) => `${actor} 终止了 ${object} 的订阅`,
  'invitation.create': ({ actor, fact }) =>
    fact('email') === '' ? `${actor} 创建了一个邀请，有效期 ${fact('days')} 天` : `${actor} 邀请了 ${fact('email')}`,
  'invitation.resend': ({ actor, object }) => `${actor} 重新发送了邀请（${object}）`,
  'invitation.revoke': ({ actor, object }) => `${actor} 撤销了邀请（${object}）`,
  'redemption.create': ({ actor, fact, money }) =>
    `${actor} 创建了 ${fact('count')} 个兑换码“${fact('name')}”，每个 ${money('quota')}`,
  'redemption.change': ({ actor, object }) => `${actor} 修改了兑换码（${object}）`,
  'redemption.remove': ({ actor, object, fact }) =>
    object === '' ? `${actor} 移除了 ${fact('count')} 个兑换码` : `${actor} 移除了兑换码（${object}）`,
  'redemption.redeem': ({ actor, money }) => `${actor} 兑换了 ${money('quota')}`,
  'order.paid': ({ object, fact }) => `订单已付款（${object}）：${fact('provider')} ${fact('money')}`,
  'order.paid-twice': ({ object, fact }) => `订单通过 ${fact('provider')} 再次付款（${object}）`,
  'order.parked': ({ object }) => `订单已付款，但暂时无法入账（${object}）`,
  'order.waiting': ({ object }) => `订单正在等待之前的事件（${object}）`,
  'order.completed': ({ actor, object }) => `${actor} 完成了订单（${object}）`,
  'order.refunded': ({ object, fact }) => `订单已退款 ${fact('returned')}（${object}）`,
  'order.disputed': ({ object, fact }) => `订单有争议 ${fact('returned')}（${object}）`,
  'order.dispute-won': ({ object }) => `订单争议已胜诉（${object}）`,
  'order.refused': ({ object, fact }) => `收到与订单不符的通知（${object}）${becauseZh(fact('reason'))}`,
  'order.forged': ({ object, fact }) => `已拒绝伪造的通知（${object}）${becauseZh(fact('reason'))}`,
  'prompt.read': ({ actor, object }) => `${actor} 查看了一次调用的提示词和回答（${object}）`,
  'audit.export': ({ actor, fact }) => `${actor} 导出了 ${fact('entries')} 条审计日志`,
  'config.reload': ({ actor }) => `${actor} 重新加载了 gateway.yaml`,
  'backup.start': ({ actor }) => `${actor} 开始了一次备份`,
  'prices.update': ({ actor, fact }) => `${actor} 采用了 ${fact('count')} 项公布价格`,
  'config.save': ({ actor, fact }) => `${actor} 保存了配置的版本 ${fact('version')}${becauseZh(fact('note'))}`,
  'config.restore': ({ actor, fact }) => `${actor} 将配置的版本 ${fact('from')} 恢复为版本 ${fact('version')}`,
  'config.try': ({ actor, object }) => `${actor} 测试了未保存配置中的渠道（${object}）`,
  'config.secret.set': ({ actor, object }) => `${actor} 设置了配置的机密（${object}）`,
  'config.secret.delete': ({ actor, object }) => `${actor} 删除了配置的机密（${object}）`,
};

/** The sentences by action. */
export const useSentences = translated<Readonly<Record<KnownAction, Sentence>>>({ en: EN, zh: ZH });

/** All known actions, grouped by object. */
export const ACTIONS = Object.keys(EN) as readonly KnownAction[];

/** The names of fields. */
export const useFieldNames = texts({
  name: ['name', '名称'],
  username: ['username', '用户名'],
  displayName: ['display name', '显示名称'],
  email: ['email address', '邮箱'],
  group: ['group', '分组'],
  remark: ['remark', '备注'],
  settings: ['settings', '设置'],
  parent_id: ['parent department', '上级部门'],
  quota: ['total budget', '总预算'],
  monthly_quota: ['monthly budget', '每月预算'],
  ratio: ['price factor', '价格倍率'],
  status: ['state', '状态'],
  remain_quota: ['limit', '额度'],
  unlimited_quota: ['limit', '额度'],
  expired_time: ['expiry', '过期时间'],
  model_limits: ['models', '模型'],
  model_limits_enabled: ['models', '模型'],
  allow_ips: ['IP addresses', 'IP 地址'],
} as Readonly<Record<string, Pair>>);
