/** Error messages in the user's language: by code if the console has a translation, otherwise the message of the gateway. */
import { chosenZone, HOUR_CYCLE, timeZoneOf } from '../shell/zone.ts';
import { type Language, texts } from '../text.ts';
import { Refusal } from './client.ts';
import { type ErrorCode, HELP } from './errors.ts';

/** A function gets the refusal; for a code alone, its message is empty. */
type Sentence = string | ((refusal: Refusal) => string);

/** Codes of the console itself, for errors without an answer of the gateway. */
type OwnCode =
  | 'offline'
  | 'cancelled'
  | 'not_the_gateway'
  | 'unreadable'
  | 'passkey_not_shown'
  | 'passkey_known'
  | 'passkey_failed';

const WAIT = texts({
  soon: [
    (seconds: number) => (seconds === 1 ? 'in one second' : `in ${seconds} seconds`),
    (seconds: number) => `${seconds} 秒后`,
  ],
  later: [
    (minutes: number, clock: string) => `in ${minutes} minutes (at ${clock})`,
    (minutes: number, clock: string) => `${minutes} 分钟后（${clock}）`,
  ],
});

/** Codes whose messages name API paths: the console shows the general sentence of the error table instead. */
const SHOWN_BY_CODE: ReadonlySet<string> = new Set<ErrorCode>([
  'not_signed_in',
  'wrong_code',
  'verification_required',
  'oauth_denied',
  'oauth_state',
  'oauth_code',
  'oauth_provider_failed',
  'provider_not_found',
  'email_wanted',
  'cross_site',
  'content_not_allowed',
]);

const IN_ENGLISH: Readonly<Partial<Record<ErrorCode | OwnCode, Sentence>>> = {
  not_the_gateway:
    'A proxy in front of the gateway answered instead of it. Reload the page: you may have to sign in to the proxy.',
  codes_locked: (refusal) => `Too many incorrect codes. Try again ${waitOf(refusal, 'en')}.`,
  rate_limit_exceeded: (refusal) =>
    refusal.retryAfter === undefined ? refusal.message : refusal.message.replace(/\bin \d+ s\b/, waitOf(refusal, 'en')),
};

/** A sentence for every code: the compiler reports missing and unknown ones. */
const IN_CHINESE: Readonly<Record<ErrorCode | OwnCode, Sentence>> = {
  offline: '网关没有响应。请检查网关是否在运行、您的网络是否正常。',
  cancelled: '已在网关响应之前取消。重试之前，请检查操作是否已经完成。',
  not_the_gateway: '网关前面的代理代替它返回了响应。请重新加载页面：您可能需要登录代理。',
  unreadable: '无法解码网关的响应，请稍后再试。',
  internal_error: '网关内部出错。请稍后再试；如果仍然出错，请联系管理员。',
  invalid_request_error: ({ message }) => before(message, '请求有误'),
  invalid_json: '请求内容不是有效的 JSON。',
  not_found: '未找到该地址。',
  method_not_allowed: '此地址不支持这种请求方法。',
  request_too_large: '请求太大。',
  request_timeout: '请求没有及时到达，请重试。',
  content_not_found: '未保存此调用的提示词和回答，或已超过保留期限。',
  content_not_allowed: '您没有查看这些提示词和回答的权限。',
  storage_unavailable: '数据暂时无法写入，请稍后再试。',
  shutting_down: '网关正在启动或停止，请稍后再试。',
  spool_unavailable: '上传的内容暂时无法保存，请稍后再试。',
  rate_limit_exceeded: (refusal) =>
    refusal.retryAfter === undefined ? '请求过于频繁，请稍后再试。' : `次数过多，请于${waitOf(refusal, 'zh')}再试。`,
  concurrency_limit_exceeded: '同时进行的请求过多，请稍后再试。',

  invalid_name: '名称无效：太短、太长，或含有不允许的字符。',
  invalid_email: '这不是邮箱地址，例如 ann@example.com。',
  invalid_password: '密码须为 8 到 256 个字符。',
  common_password: '这个密码太常见，请换一个。',
  webhook_url_wanted: '用 webhook 接收通知需要填写地址。',
  invalid_webhook_url: 'webhook 地址须以 https:// 或 http:// 开头。',
  invalid_models: '填写了不存在的模型，或列表为空。',
  invalid_token_addresses: '填写的不是 IP 地址或网段，或列表为空。',
  invalid_addresses: '填写的不是 IP 地址或网段，或列表为空。',
  invalid_amount: '金额无效。',
  invalid_method: '没有这种支付方式。',
  invalid_product: '未找到商品。',
  invalid_plan: '未找到套餐。',
  invalid_url: '返回地址不属于本控制台。',
  invalid_code: '兑换码无效：不正确、已使用、已停用或已过期。',
  invalid_ratio: '倍率最多六位小数，且不超过一千。',
  department_circle: '部门不能移到其下级部门中。',
  department_too_deep: '部门最多十级。',
  invalid_range: '结束时间早于开始时间。',
  range_too_long: '时间范围太长，请缩短。',
  filter_too_wide: '符合条件的用户或密钥太多，请缩小范围。',

  not_signed_in: '登录已失效，请重新登录。',
  session_wanted: '此操作需要登录，请重新登录。',
  invalid_access_token: '访问令牌无效。',
  access_token_wanted: '这是 API 密钥；此处需要访问令牌或登录。',
  wrong_credentials: '用户名或密码不正确，或账户已停用。',
  sign_in_expired: '本次登录已过期或尝试次数过多，请重新开始。',
  wrong_code: '验证码不正确、已过期或已使用过。每个验证码只能使用一次。',
  wrong_password: '当前密码不正确。',
  codes_locked: (refusal) => `验证码错误次数过多，请于${waitOf(refusal, 'zh')}再试。`,
  passkey_refused: '通行密钥未通过验证，请重新开始。',
  reset_refused: '此链接已使用、已过期，或不属于该邮箱地址。请重新申请。',
  account_disabled: '此账户已停用，请联系管理员。',
  registration_closed: '此网关不开放注册，账户由管理员创建。',
  invitation_for_another: '该邀请属于另一个邮箱。请使用受邀邮箱对应的账户登录，或设置用户名和密码。',
  invitation_outdated: '该邀请中的部门、套餐或角色已不可用，或发出邀请的管理员已无权邀请，请索取新的邀请。',
  invitation_wanted: '邀请码缺失、已使用或已过期，请向管理员索取新的邀请码。',
  email_wanted: '新账户需要经过验证的邮箱。',
  name_taken: '这个名称已被使用。',
  email_taken: '这个邮箱已被其他账户使用。',
  ticket_used: '已被使用，请重新开始。',
  cross_site:
    '此请求被视为来自其他网站，已被拒绝。请通过 gateway.yaml 中 console.url 写明的地址打开控制台，或改正该设置。',

  provider_wanted: '请选择登录方式。',
  provider_not_found: '没有这个登录方式。',
  oauth_denied: '第三方拒绝了登录，或您在那里取消了。请重试，或换一种方式登录。',
  oauth_state: '这次登录不是在此浏览器中开始的，或已过期，请重新开始。',
  oauth_code: '第三方未接受这次登录，请重新开始。',
  oauth_provider_failed: '无法连接第三方登录服务，请稍后再试。',
  identity_taken: '这个第三方账户已关联到另一个账户。',
  provider_bound: '已关联该服务的另一个账户，请先解除关联。',
  binding_not_found: '没有关联该服务的账户。',
  last_login_method: '这是此账户唯一的登录方式：请先设置密码或添加通行密钥。',

  verification_required: '请先通过双重验证。如果尚未设置，请到“安全”页面设置。',
  scope_insufficient: '服务令牌没有此请求所需的权限范围。',
  person_wanted: '服务令牌不能执行此操作，请登录后操作。',
  address_not_allowed: '服务令牌不能从此 IP 地址使用。',
  role_insufficient: '您的权限不足以执行此操作。',
  root_protected: '不能对 root 执行此操作。',
  two_factor_enabled: '双重验证已启用，请先停用。',
  no_setup: '本次设置已过期，请重新开始。',
  no_second_factor: '此账户没有启用双重验证。',
  passkey_exists: '此账户已有通行密钥，请先移除。',
  passkey_taken: '这个通行密钥属于另一个账户。',
  passkey_not_shown: '未使用通行密钥，请重试。',
  passkey_known: '此设备或安全密钥上已有您账户的通行密钥。',
  passkey_failed: ({ message }) => before(message, '浏览器无法完成操作'),
  no_passkey: '此账户没有通行密钥。',
  session_not_found: '该会话已结束。',
  not_available: '此网关没有启用该功能。',

  account_not_found: '未找到用户。',
  service_token_not_found: '未找到服务令牌，或它已撤销或过期。',
  key_not_found: '未找到密钥。',
  order_not_found: '未找到订单。',
  code_not_found: '未找到兑换码。',
  plan_not_found: '未找到套餐。',
  subscription_not_found: '未找到订阅。',
  department_not_found: '未找到部门。',
  member_not_found: '该用户不在这个部门中。',
  channel_not_found: '未找到渠道。',
  models_not_added: '无法将模型写入配置。',
  model_not_found: '未找到模型。',
  last_root: '必须保留 root 账户：不能删除、停用或降级。',
  role_unchanged: '该用户已经是这个角色。',
  unlimited: '该账户额度不限，没有可设置的余额。',
  too_many_service_tokens: '服务令牌过多，请先撤销不再使用的令牌。',
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
  model_not_allowed: '此密钥不允许调用该模型。',
  price_list_changed: '公布的价格表已更改，请重新比较。',
  price_list_refused: ({ message }) => before(message, '公布的价格表无法读取或不可信，当前价格保持不变'),
  model_not_priced: '该模型没有价格，请联系管理员。',
  unsupported_parameter: ({ param }) => `该模型的供应商不支持${param === '' ? '其中一个字段' : `参数 ${param}`}。`,
  translation_refused: ({ message }) => before(message, '模型或密钥启用了严格转换，而请求无法精确转换'),
  department_disabled: '所属部门已停用。',
  QUOTA_USER_INSUFFICIENT: '账户余额不足，请先充值。',
  QUOTA_TOKEN_INSUFFICIENT: '此密钥的额度已用完。',
  QUOTA_TOKEN_PERIOD_EXCEEDED: '此密钥的每日、每周或每月预算不足以支付这次调用。',
  invalid_group: '没有这个分组。请从列表中选择，或留空以使用其用户的分组。',
  group_not_allowed: '您不能为密钥选择此分组，或此密钥的分组由管理员设置。',
  group_not_found: '此密钥或其用户的分组未在配置中。请联系管理员。',
  invalid_limits: '密钥的某项限制没有限制任何内容、数值超出范围，或与另一项限制针对相同的模型。',
  limits_off: '执行此限制的插件不在 `pipeline` 中。',
  QUOTA_MONTHLY_DAILY_EXCEEDED: '已达到套餐的每日限额。',
  QUOTA_MONTHLY_WEEKLY_EXCEEDED: '已达到套餐的每周限额。',
  QUOTA_MONTHLY_EXCEEDED: '已达到套餐的 30 天限额。',
  QUOTA_SUBSCRIPTION_EXPIRED: '套餐已到期，请续期。',
  QUOTA_DEPARTMENT_EXCEEDED: '部门预算已用完，请联系管理员。',
  QUOTA_HOLD_EXCEEDED: '费用达到预留额度，回答已被截断。',
  no_channel: '没有可用于此模型的渠道。',
  upstream_unreachable: '无法连接供应商，请稍后再试。',
  upstream_error: '供应商出错，请稍后再试。',
  bad_upstream_response: '无法解码供应商的响应。',
  upstream_broke_off: '供应商的响应被截断。',
  upstream_timeout: '供应商响应超时。',
  upstream_overloaded: '供应商过载或限速，请稍后再试。',
  upstream_refused: '供应商拒绝了 WebSocket 连接。',
  overloaded: '网关过载，请稍后再试。',
  tool_not_priced: '请求中由供应商执行的工具没有价格。',
  service_not_priced: '请求的服务等级没有价格。',
  content_refused: '请求或回答中有此网关规则不允许的内容。',
  media_not_fetched: '无法从 URL 获取图片或文件。',
  context_length_exceeded: '提示词超出了模型的上下文长度，请缩短。',
  conversation_too_long: '对话轮次过多，请只发送仍需要的部分。',
  previous_response_not_found: '要继续的响应不存在或已不再保留，请发送完整对话。',
  response_not_found: '未找到该响应，或已超过保留期限。',
  invalid_form: 'multipart 请求内容格式有误。',
  api_not_implemented: '此 API 尚未实现。',
  metrics_not_allowed: '读取指标需要令牌；未设置令牌时只回答来自本机的直接请求。',
  body_not_signable: '该透传路由的供应商要求对请求内容签名，只能发送没有内容的请求。',

  bad_request: '这不是有效的 HTTP 请求。',
  duplicate_header: '有请求头发送了两次。',
  invalid_host: 'Host 请求头缺失或无效。',
  invalid_content_length: 'Content-Length 无效。',
  invalid_transfer_encoding: 'Transfer-Encoding 无效。',
  unexpected_body: '此请求方法不能带有内容。',
  invalid_path: '请求路径格式有误。',
  length_required: '请求缺少内容。',
  uri_too_long: '地址太长。',
  unsupported_media_type: '请求内容的类型不受支持。',
  unsupported_content_encoding: '请求内容不能压缩。',
  expectation_failed: '不支持这个 Expect 请求头。',
  upgrade_not_served: '此路径不支持 WebSocket 等协议升级。',
  headers_too_large: '请求头太大。',
  too_many_headers: '请求头太多。',
  http_version_not_supported: '请使用 HTTP/1.1。',

  conflict: '内容已被另一个请求更改，请重新加载后再试。',
  read_only: '此请求不能设置其中一个字段。',
  unknown_parameter: '此请求不支持其中一个查询参数。',
  limit_wanted: '该用户没有可限制密钥的余额，请为密钥设置额度或设为不限。',
  configuration_wrong: 'gateway.yaml 有错误，运行中的配置没有改变。',
  configuration_conflict: '配置在此期间已被更改，请重新加载后再试。',
  configuration_unwritable: '网关无法写入 gateway.yaml。请允许网关的用户写入该文件及其文件夹，或直接修改文件。',
  editor_off: '此处不能更改配置：gateway.yaml 中的 configuration.editor 为 false。',
  models_not_listed: '供应商没有模型列表，或未返回列表。请手动输入模型名称。',
  secret_not_found: '此密钥不存在。',
  import_running: '另一个导入正在进行，请等待其结束。',
  import_source_refused: '来源既不是数据库地址，也不是已上传的文件。网关所在机器上的文件请用 `turnpike import` 导入。',
  upload_out_of_order: '上传的部分与文件不连续，或文件在另一个网关上。请重新上传。',
  upload_too_large: '上传的文件过大。请把它复制到网关所在的机器上，并使用 `turnpike import`。',
  report_not_found: '没有报告，或没有需要分发的内容。请先导入。',
  secret_used: '配置正在使用此密钥，请先从配置中移除。',
  version_not_found: '此版本不存在，或已不再保留。',
  second_factor_wanted: '此账户已启用双重验证，请用它验证，而不是密码。',
  no_password: '此账户没有密码，请在登录后五分钟内设置双重验证。',
  invoice_not_found: '没有账单：订单不存在、属于其他用户、尚未付款，或由余额支付。',
  invitation_not_found: '邀请不存在，或已使用、已撤销、已过期。',
  invalid_idempotency_key: '`Idempotency-Key` 必须是 1 到 255 个可打印的 ASCII 字符。',
  idempotency_key_reused: '此 `Idempotency-Key` 在过去 24 小时内已用于另一个请求。每个请求请使用新的键。',
  request_running: '使用此 `Idempotency-Key` 的请求仍在处理中，请稍后重试。',
  answer_not_kept: '使用此 `Idempotency-Key` 的请求已执行（至少部分执行），但没有保留其响应。请查看相关记录。',
  precondition_failed: '该记录在读取之后已被更改，请重新加载后再试。',
  no_backups_configured: '没有配置定时备份。请在 gateway.yaml 中添加 `backup`。',
  call_not_found: '未找到该记录，或已超过保留期限。',
};

/** Appends the message, if there is one. */
function before(message: string, words: string): string {
  return message === '' ? `${words}。` : `${words}：${message}`;
}

/** The message for an error. */
export function sentenceOf(error: unknown, language: Language): string {
  if (!(error instanceof Refusal)) return error instanceof Error ? error.message : String(error);
  const { code, message } = error;
  const sentences: Readonly<Partial<Record<string, Sentence>>> = language === 'zh' ? IN_CHINESE : IN_ENGLISH;
  // Codes may be any text, such as `constructor`, so only own properties count.
  const own = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  if (own !== undefined) return typeof own === 'function' ? own(error) : own;
  return language === 'en' && isKnown(code) && (message === '' || SHOWN_BY_CODE.has(code)) ? HELP[code] : message;
}

/** The message for a code alone, in an address or a usage record; undefined for unknown codes, which are not shown because anyone can write a URL. */
export function sentenceOfCode(code: string, language: Language): string | undefined {
  if (!isKnown(code)) return undefined;
  return sentenceOf(new Refusal(400, code, ''), language) || HELP[code];
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(HELP, code);
}

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
