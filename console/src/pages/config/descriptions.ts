/** The descriptions of settings that forms show, in Chinese. The schema of gateway.yaml has the English ones. */

/** By the English description, so that a changed one is not shown with an old translation. */
export const IN_CHINESE: Readonly<Record<string, string>> = {
  'The vendor whose API it has.': '该渠道使用哪个供应商的 API。',
  'Its base URL; optional for vendors with a fixed one. `{model}` in its path is replaced by the upstream model.':
    '基础 URL；供应商有固定地址时可省略。路径中的 `{model}` 会替换为上游模型。',
  'Its API key. A channel with an empty key is off.': 'API 密钥。密钥为空的渠道不启用。',
  'Headers of every request to it. They replace those of its vendor; empty ones are not sent.':
    '发送给它的每个请求都带有的请求头。会替换供应商的同名请求头；空值不发送。',
  'Query parameters of every request to it; empty ones are not sent.':
    '发送给它的每个请求都带有的查询参数；空值不发送。',
  'The HTTP proxy for all requests to it, or `none`. Default: `upstream.proxy`, otherwise HTTPS_PROXY and HTTP_PROXY of the environment.':
    '发送给它的所有请求使用的 HTTP 代理，或 `none`（不使用）。默认：`upstream.proxy`，否则为环境变量 HTTPS_PROXY 和 HTTP_PROXY。',
  "`list`: the vendor's list of models is read every hour, and model lists show those that patterns match.":
    '`list`：每小时读取供应商的模型列表，模型列表会显示与名称模式匹配的模型。',
  'Its share of the calls among channels of its priority.': '在同一优先级的渠道中所占的调用份额。',
  'Channels with the lowest number are tried first.': '数字最小的渠道最先尝试。',
  'Timeout for connecting.': '建立连接的超时时间。',
  'Timeout until the answer begins; default: 60s for a stream, 10m otherwise.':
    '开始响应的超时时间；默认：流式 60s，其他 10m。',
  'Timeout between two pieces of the answer.': '两段响应之间的超时时间。',
  'Timeout from the request to the end of the answer.': '从请求到响应结束的超时时间。',
  'The styles to use with it; default: those of its vendor. Calls in other styles are translated to the first.':
    '使用该渠道的 API；默认为其供应商的 API。其他 API 的调用会转换为第一个。',
  'How its streams report usage: on request, always, or never.': '流式响应如何报告用量：按请求、始终或从不。',
  'Capabilities of its models that differ from the defaults. If client and vendor use the same style, only fields and streams apply.':
    '其模型与默认值不同的能力。客户端与供应商使用相同 API 时，只应用字段和流的设置。',
  'The supported styles; default: all that its channels support, and all that can be translated to these.':
    '支持的 API；默认为其渠道支持的所有 API，以及可转换为这些 API 的所有 API。',
  'True: calls cost nothing.': '是：调用不收费。',
  'True: translations that would change the answer are refused.': '是：拒绝会改变回答的转换。',
  'Its price, instead of one in `prices`; `list`: the list price of its vendor.':
    '价格，代替 `prices` 中的价格；`list`：供应商的公布价格。',
  'Currency units per image; or a table of them by quality/size, quality, size and default.':
    '每张图片的货币单位；或按质量/尺寸、质量、尺寸和 default 列出的表。',
  'Currency units per second of audio input.': '每秒输入音频的货币单位。',
  'Currency units per million characters of speech.': '每百万字符语音的货币单位。',
  'Currency units per use of a vendor-side tool: web_search, file_search, code_execution, image_generation, or its name in requests.':
    '每次使用供应商端工具的货币单位：web_search、file_search、code_execution、image_generation，或请求中的工具名称。',
  'Service tiers by their names in requests and answers (priority, flex, fast, us): a factor of the price of tokens, or rates of its own.':
    '按请求和响应中的名称（priority、flex、fast、us）列出的服务等级：Token 价格的倍数，或单独的价格。',
  'Its name in the console; default: its key.': '在控制台中显示的名称；默认为其键名。',
  'How long it lasts.': '有效期（天）。',
  'The maximum cost of calls per day (UTC).': '每天（UTC）调用费用的上限。',
  'The maximum cost of calls per week, from Monday (UTC).': '每周（从周一起，UTC）调用费用的上限。',
  'The maximum cost of calls within thirty days from its start.': '自开始起每三十天调用费用的上限。',
  'Its price; a plan without a price is granted, not sold.': '价格；没有价格的套餐只能发放，不出售。',
  'Balance that is credited each time it is bought or granted.': '每次购买或发放时增加的余额。',
  '`balance`: calls within the windows are included, and the balance is not charged. Otherwise the windows limit, and the balance pays.':
    '`balance`：限额内的调用已包含，不从余额扣费。否则限额仅作限制，由余额付费。',
  'With `includes`: calls for which a window has too little left are refused, or paid by the balance as a whole.':
    '设置了 `includes` 时：如果某个周期的剩余额度不足以支付一次调用，则拒绝该调用，或由余额全额支付。',
  'Calls after it has expired: refused until it is renewed or cancelled, or paid by the balance.':
    '到期后的调用：在续订或取消之前拒绝，或由余额付费。',
  'The path at the channel; default: the prefix without /v1.': '渠道上的路径；默认为去掉 /v1 的前缀。',
  'Quota units per request.': '每个请求的额度单位。',
  'True: requests cost nothing.': '是：请求不收费。',
  'The header in which the server expects the key; without it, `authorization` with a bearer token.':
    '服务器接收密钥的请求头；不设置则为带 Bearer 令牌的 `authorization`。',
  'The authorization scheme, a word before the key. Without it, the header has only the key.':
    '密钥之前的认证方案名称。不设置则请求头只包含密钥。',
  'Requests within any minute.': '任意一分钟内的请求数。',
  'Input and output tokens within any minute.': '任意一分钟内的输入和输出 Token 数。',
  'Concurrent calls.': '同时进行的调用数。',
  'Limits of all keys of an account together.': '同一账户所有密钥合计的限制。',
};
