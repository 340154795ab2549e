/** What a refusal says to a person, in their language: by its code where we have words for it, else in the gateway's own. */
import { chosenZone, HOUR_CYCLE, timeZoneOf } from '../shell/zone.ts';
import { type Language, texts } from '../text.ts';
import { Refusal } from './client.ts';

/** By code. A function is given what the gateway said. */
type Sentences = Readonly<Record<string, string | ((refusal: Refusal) => string)>>;

const WAIT = texts(
  {
    soon: (seconds: number) => (seconds === 1 ? 'in one second' : `in ${seconds} seconds`),
    later: (minutes: number, clock: string) => `in ${minutes} minutes (at ${clock})`,
  },
  {
    soon: (seconds: number) => `${seconds} 秒后`,
    later: (minutes: number, clock: string) => `${minutes} 分钟后（${clock}）`,
  },
);

/** What the gateway says to scripts names paths; people get these in its place. */
const IN_ENGLISH: Sentences = {
  not_the_gateway:
    'A proxy in front of the gateway answered instead of it. Reload the page: you may have to sign in to the proxy.',
  not_signed_in: 'Your session has ended. Sign in again.',
  session_wanted: 'This action needs a session. Sign in again.',
  sign_in_expired: 'This sign-in has expired, or had too many attempts. Start again.',
  wrong_code: 'This code is incorrect, expired or already used. Each code works once.',
  wrong_password: 'The current password is incorrect.',
  verification_required: 'Confirm with your second factor first. If you have none, set one up under Security.',
  codes_locked: (refusal) => `Too many incorrect codes. Try again ${waitOf(refusal, 'en')}.`,
  no_setup: 'This setup has expired. Start it again.',
  session_not_found: 'This session has already ended.',
  invitation_wanted: 'This invitation is missing, used or expired. Ask an administrator for a new one.',
  oauth_denied: 'The provider denied the sign-in, or you cancelled it there. Try again, or sign in another way.',
  oauth_state: 'This sign-in was not started in this browser, or has expired. Start again.',
  oauth_code: 'The provider did not accept this sign-in. Start again.',
  oauth_provider_failed: 'The provider could not be reached, or returned an error. Try again later.',
  provider_not_found: 'This sign-in provider is not configured.',
  email_wanted: 'A new account needs a verified email address.',
  cross_site:
    'The request was refused as cross-site. Open the console at the address in console.url of gateway.yaml, or correct that setting.',
  content_not_allowed: 'You may not read this prompt and answer.',
  rate_limit_exceeded: (refusal) =>
    refusal.retryAfter === undefined ? refusal.message : refusal.message.replace(/\bin \d+ s\b/, waitOf(refusal, 'en')),
};

const IN_CHINESE: Sentences = {
  offline: '网关没有响应。它在运行吗？您的网络正常吗？',
  cancelled: '已在网关回答之前取消。请先确认操作是否已经完成，再决定是否重做。',
  not_the_gateway: '网关之前的某个服务代替它作了回答。请重新加载页面：代理可能需要您登录。',
  unreadable: '网关的回答无法读取，请稍后再试。',
  internal_error: '网关内部出错。请稍后再试；如果仍然出错，请联系管理员。',
  invalid_request_error: ({ message }) => `请求有误：${message}`,
  invalid_json: '请求内容不是有效的 JSON。',
  not_found: '没有这个地址。',
  method_not_allowed: '此地址不支持这种请求方法。',
  request_too_large: '内容太大。',
  request_timeout: '请求没有及时到达，请重试。',
  content_not_found: '没有保存这次调用的提示词和回答，或已超过保存期限。',
  content_not_allowed: '您没有查看这些提示词和回答的权限。',
  storage_unavailable: '数据暂时无法写入，请稍后再试。',
  shutting_down: '网关正在启动或停止，请稍后再试。',
  spool_unavailable: '上传的内容暂时无法保存，请稍后再试。',
  rate_limit_exceeded: (refusal) =>
    refusal.retryAfter === undefined ? '请求过于频繁，请稍后再试。' : `次数过多，请于${waitOf(refusal, 'zh')}再试。`,
  concurrency_limit_exceeded: '同时进行的请求过多，请稍后再试。',

  invalid_name: '名称无效：太短、太长，或含有不允许的字符。',
  invalid_email: '这不是电子邮箱地址，例如 ann@example.com。',
  invalid_password: '密码须为 8 到 256 个字符。',
  common_password: '这个密码太容易被猜到，请换一个。',
  webhook_url_wanted: '用 webhook 接收通知需要填写地址。',
  invalid_webhook_url: 'webhook 地址须以 https:// 或 http:// 开头。',
  invalid_models: '填写了不存在的模型，或列表为空。',
  invalid_addresses: '填写的不是 IP 地址或网段，或列表为空。',
  invalid_amount: '金额无效。',
  invalid_method: '没有这种支付方式。',
  invalid_product: '没有这个商品。',
  invalid_plan: '没有这个套餐。',
  invalid_url: '返回地址不属于本控制台。',
  invalid_code: '兑换码无效：不正确、已使用、已停用或已过期。',
  invalid_ratio: '倍率最多六位小数，且不超过一千。',
  department_circle: '部门不能放在它自己的下级中。',
  department_too_deep: '部门最多十级。',
  invalid_range: '结束时间早于开始时间。',
  range_too_long: '时间范围太长，请缩短。',
  filter_too_wide: '符合条件的用户或密钥太多，请缩小范围。',

  not_signed_in: '登录已失效，请重新登录。',
  session_wanted: '此操作需要登录，请重新登录。',
  invalid_access_token: '访问令牌无效。',
  access_token_wanted: '这是 API 密钥；此处需要访问令牌或登录。',
  wrong_credentials: '用户名或密码不正确，或账户已停用。',
  sign_in_expired: '本次登录用时过长或尝试次数过多，请重新开始。',
  wrong_code: '验证码不正确、已过期或已使用过。每个验证码只能使用一次。',
  wrong_password: '当前密码不正确。',
  codes_locked: (refusal) => `验证码错误次数过多，请于${waitOf(refusal, 'zh')}再试。`,
  passkey_refused: '通行密钥未通过验证，请重新开始。',
  reset_refused: '此链接已使用、已过期，或不属于该邮箱地址。请重新申请。',
  account_disabled: '此账户已停用，请联系管理员。',
  registration_closed: '此网关不开放注册，账户由管理员创建。',
  invitation_wanted: '邀请码缺失、已使用或已过期，请向管理员索取新的邀请码。',
  email_wanted: '新账户需要经过验证的电子邮箱。',
  name_taken: '这个名称已被使用。',
  email_taken: '这个电子邮箱已被其他账户使用。',
  ticket_used: '它刚刚已被使用，请重新开始。',
  cross_site:
    '此请求被视为来自其他网站，已被拒绝。请通过 gateway.yaml 中 console.url 写明的地址打开控制台，或改正该设置。',

  provider_wanted: '请说明使用哪个第三方账户登录。',
  provider_not_found: '没有这个登录方式。',
  oauth_denied: '第三方拒绝了登录，或您在那里取消了。请重试，或换一种方式登录。',
  oauth_state: '这次登录不是在此浏览器中开始的，或开始得太久，请重新开始。',
  oauth_code: '第三方没有接受这次登录，请重新开始。',
  oauth_provider_failed: '无法连接第三方登录服务，请稍后再试。',
  identity_taken: '这个第三方账户已关联到另一个账户。',
  provider_bound: '已关联该服务的另一个账户，请先解除关联。',
  binding_not_found: '没有关联该服务的账户。',
  last_login_method: '这是此账户唯一的登录方式：请先设置密码或添加通行密钥。',

  verification_required: '请先通过两步验证。如果尚未设置，请到“安全”页面设置。',
  role_insufficient: '您的权限不足以执行此操作。',
  root_protected: '不能对 root 执行此操作。',
  two_factor_enabled: '两步验证已启用，请先停用。',
  no_setup: '本次设置已失效，请重新开始。',
  no_second_factor: '此账户没有启用两步验证。',
  passkey_exists: '此账户已有通行密钥，请先移除。',
  passkey_taken: '这个通行密钥属于另一个账户。',
  passkey_not_shown: '没有出示通行密钥，请重试。',
  passkey_known: '此设备或安全密钥上已有您账户的通行密钥。',
  passkey_failed: ({ message }) => `浏览器无法完成操作：${message}`,
  no_passkey: '此账户没有通行密钥。',
  session_not_found: '该会话已结束。',
  not_available: '此网关没有启用该功能。',

  account_not_found: '没有这个用户。',
  key_not_found: '没有这个密钥。',
  order_not_found: '没有这个订单。',
  code_not_found: '没有这个兑换码。',
  plan_not_found: '没有这个套餐。',
  subscription_not_found: '没有这个订阅。',
  department_not_found: '没有这个部门。',
  member_not_found: '该用户不在这个部门中。',
  channel_not_found: '没有这个渠道。',
  model_not_found: '没有这个模型。',
  last_root: '必须保留 root 账户：不能删除、停用或降级。',
  role_unchanged: '该用户已经是这个角色。',
  in_debt: '该账户有欠款，请先结清。',
  unlimited: '该账户额度不限，没有可设置的余额。',
  too_many_keys: '每个账户最多一千个密钥。',
  department_not_empty: '部门中还有成员或下级部门。',
  no_budget: '该部门没有可以提高的预算。',
  insufficient_balance: '余额不足，请先充值。',
  other_plan_runs: '已有套餐在使用中，请等它到期或先取消。',
  no_room: '超过了余额的上限。',
  lease_not_returned: '网关的一个进程没有响应，请几秒后重试。',
  code_used: '此兑换码已被使用，不能再更改。',
  order_completed: '此订单已完成。',
  order_returned: '此订单已退款。',
  order_cannot_be_given: '此订单无法补单。',
  payment_provider_failed: '无法连接支付服务，请稍后再试。',

  invalid_api_key: 'API 密钥无效。',
  key_disabled: '此密钥已停用。',
  key_expired: '此密钥已过期。',
  ip_not_allowed: '此密钥不允许从您的 IP 地址使用。',
  model_not_allowed: '此密钥不允许使用这个模型。',
  model_not_priced: '此模型还没有价格，请联系管理员。',
  unsupported_parameter: ({ param }) => `该模型的供应商不支持参数 ${param}。`,
  translation_refused: ({ message }) => `此请求无法完整转换：${message}`,
  department_disabled: '所属部门已停用。',
  QUOTA_USER_INSUFFICIENT: '账户余额不足，请先充值。',
  QUOTA_TOKEN_INSUFFICIENT: '此密钥的额度已用完。',
  QUOTA_MONTHLY_DAILY_EXCEEDED: '套餐的当日额度已用完。',
  QUOTA_MONTHLY_WEEKLY_EXCEEDED: '套餐的本周额度已用完。',
  QUOTA_MONTHLY_EXCEEDED: '套餐的本月额度已用完。',
  QUOTA_SUBSCRIPTION_EXPIRED: '套餐已到期，请续订。',
  QUOTA_DEPARTMENT_EXCEEDED: '部门预算已用完，请联系管理员。',
  QUOTA_HOLD_EXCEEDED: '费用超出了预留额度，输出已中止。',
  no_channel: '没有可用于此模型的渠道。',
  upstream_unreachable: '无法连接供应商，请稍后再试。',
  upstream_error: '供应商出错，请稍后再试。',
  bad_upstream_response: '供应商的回答无法读取。',
  upstream_broke_off: '供应商的输出中途断开。',
  upstream_timeout: '供应商响应超时。',
};

/** A sentence. */
export function sentenceOf(error: unknown, language: Language): string {
  if (!(error instanceof Refusal)) return error instanceof Error ? error.message : String(error);
  const sentences = language === 'zh' ? IN_CHINESE : IN_ENGLISH;
  // Codes come from elsewhere, too: `constructor` is none of ours.
  const own = Object.hasOwn(sentences, error.code) ? sentences[error.code] : undefined;
  return (typeof own === 'function' ? own(error) : own) ?? error.message;
}

/** A sentence about a code that stands in an address; undefined where we have none. Anybody could have written it: it is not repeated. */
export function sentenceOfCode(code: string, language: Language): string | undefined {
  if (!Object.hasOwn(IN_CHINESE, code)) return undefined;
  return sentenceOf(new Refusal(400, code, OF_ADDRESSES[code] ?? ''), language) || undefined;
}

/** In English, of what a way back from elsewhere may bring along and the gateway says best itself. */
const OF_ADDRESSES: Readonly<Record<string, string>> = {
  account_disabled: 'This account is disabled. Ask an administrator.',
  registration_closed:
    'This account is not linked to any user, and registration is off. If you have an account here, sign in and link it under Security.',
  email_taken: 'An account with this email address exists. Sign in to it, then link the OAuth account under Security.',
  identity_taken: 'This OAuth account is already linked to another user.',
  provider_bound: 'Another account of this provider is already linked. Unlink it first.',
  provider_wanted: 'Select a provider.',
  rate_limit_exceeded: 'Too many attempts. Try again in a few minutes.',
  storage_unavailable: 'The gateway cannot write to its database right now. Try again later.',
  internal_error: 'Internal error. Try again; the gateway’s log has the details.',
  not_available: 'This feature is not enabled on this gateway.',
};

/** `in 14 minutes (at 15:04)`. */
function waitOf({ retryAfter: seconds = 60 }: Refusal, language: Language): string {
  const words = WAIT[language];
  if (seconds < 100) return words.soon(seconds);
  const clock = new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-US', {
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone: timeZoneOf(chosenZone()),
    ...HOUR_CYCLE,
  }).format(Date.now() + seconds * 1_000);
  return words.later(Math.ceil(seconds / 60), clock);
}
