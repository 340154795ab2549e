/** Texts of the vendors page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'The channels of gateway.yaml, their health, and the routes of each model.',
    'gateway.yaml 中的渠道、它们的健康状况，以及每个模型的路由。',
  ],
  tabs: { channels: ['Channels', '渠道'], routes: ['Routes', '路由'] },

  since: [
    (moment: string) =>
      `Statistics cover the last 24 hours at most and reset when the gateway restarts. Counted since ${moment}.`,
    (moment: string) => `统计最多覆盖最近 24 小时，网关重启后清零。自 ${moment} 起统计。`,
  ],
  none: ['No channels', '没有渠道'],
  noneAbout: [
    'gateway.yaml has no channels, so no model can be called.',
    'gateway.yaml 中没有渠道，无法调用任何模型。',
  ],
  order: ['Priority / weight', '优先级 / 权重'],
  orderAbout: [
    'A lower number is tried first; weights distribute calls among channels of equal priority.',
    '数字越小越先尝试；同一优先级的渠道按权重分配调用。',
  ],
  success: ['Success rate', '成功率'],
  ofAttempts: [(count: string) => `of ${count}`, (count: string) => `共 ${count} 次`],
  firstByte: ['First byte p50 / p95', '首字节 p50 / p95'],
  failure: ['Last failure', '最近一次失败'],
  testAbout: [
    'Sends a small request to the vendor. It uses a few tokens and is not charged to any user.',
    '向供应商发送一个小请求，消耗少量 Token，不向任何用户计费。',
  ],
  testOf: [(name: string) => `Test ${name}`, (name: string) => `测试 ${name}`],

  keys: ['Keys', '密钥'],
  keyState: {
    available: [
      (key: string, _until: string) => `Key ${key}: available`,
      (key: string, _until: string) => `密钥 ${key}：可用`,
    ],
    paused: [
      (key: string, until: string) => `Key ${key}: rate limited until ${until}`,
      (key: string, until: string) => `密钥 ${key}：已限流，至 ${until}`,
    ],
    refused: [
      (key: string, until: string) => `Key ${key}: not accepted, tried again at ${until}`,
      (key: string, until: string) => `密钥 ${key}：未被接受，${until} 重试`,
    ],
  },

  states: {
    off: ['Off', '未启用'],
    closed: ['Circuit closed', '未熔断'],
    open: ['Circuit open', '已熔断'],
    partly: ['Partly open', '部分已熔断'],
    trial: ['Circuit half-open', '半开'],
  },
  until: [(clock: string) => `until ${clock}`, (clock: string) => `至 ${clock}`],
  means: {
    off: [
      'Its key is empty: it receives no calls, and models that only it serves cannot be called.',
      '密钥为空：不接收调用，仅由它提供的模型无法调用。',
    ],
    closed: ['The channel receives calls by its priority and weight.', '该渠道按优先级和权重接收调用。'],
    open: [
      'It failed repeatedly, or sent Retry-After. Until then, calls go to other channels; after that, one call tests it.',
      '渠道连续失败，或供应商返回了 Retry-After。在此之前调用会转到其他渠道；之后会用一次调用测试它。',
    ],
    partly: ['The circuit is open for some of its models.', '该渠道的部分模型已熔断。'],
    trial: [
      'The next call tests the channel: if it succeeds, the circuit closes; otherwise it opens for longer.',
      '下一次调用会测试该渠道：成功则结束熔断，否则熔断更久。',
    ],
  },
  failures: {
    connect: [
      'No connection: the address does not answer, or its certificate is not trusted.',
      '无法连接：地址没有响应，或证书不受信任。',
    ],
    timeout: ['The vendor timed out.', '供应商响应超时。'],
    busy: [
      'The vendor’s rate limit was reached; the circuit stays open for the time that the vendor requested.',
      '已达到供应商的速率限制；按供应商要求的时间保持熔断。',
    ],
    credential: [
      'The vendor rejected the key. Check the key and the account’s credit.',
      '供应商拒绝了密钥。请检查密钥和账户余额。',
    ],
    broken: ['The answer was truncated or empty.', '响应被截断或为空。'],
    status: ['The vendor returned an error.', '供应商返回了错误。'],
    refused: ['The vendor rejected the request.', '供应商拒绝了请求。'],
  },
  withStatus: [
    (sentence: string, status: string) => `${sentence.replace(/\.$/, '')} (status ${status}).`,
    (sentence: string, status: string) => `${sentence.replace(/。$/, '')}（状态码 ${status}）。`,
  ],

  answers: ['Works', '正常'],
  answersNot: ['Fails', '失败'],
  results: {
    ok: ['The vendor answered.', '供应商已响应。'],
    none: [
      'No answer. Check the URL and the network connection of this machine.',
      '没有响应。请检查 URL 和本机的网络连接。',
    ],
    400: ['The vendor rejected the request.', '供应商拒绝了请求。'],
    401: ['The vendor rejected the key.', '供应商拒绝了密钥。'],
    402: ['The vendor requires payment.', '供应商要求付款。'],
    403: ['The key lacks permission for this.', '该密钥没有此操作的权限。'],
    404: ['The vendor has no such model at this URL.', '供应商在此 URL 下没有该模型。'],
    429: ['The vendor is overloaded or rate-limited, or the key has no credit.', '供应商过载或限速，或密钥已无额度。'],
    trouble: ['The vendor returned an internal error.', '供应商返回了内部错误。'],
    notJson: ['The answer is not JSON. Check the URL.', '响应不是 JSON。请检查 URL。'],
    refuses: ['The vendor refused the request.', '供应商拒绝了请求。'],
  },
  askedModel: [(model: string) => `tested with ${model}`, (model: string) => `使用 ${model} 测试`],
  askedList: ['tested with its model list', '使用模型列表测试'],
  status: [(status: string) => `status ${status}`, (status: string) => `状态码 ${status}`],

  gone: ['Channel not found', '未找到渠道'],
  goneAbout: ['It is not in gateway.yaml.', 'gateway.yaml 中没有该渠道。'],
  priority: ['Priority', '优先级'],
  weight: ['Weight', '权重'],
  lastSuccess: ['Last success', '最近一次成功'],
  notSinceStart: ['not since start', '启动以来没有'],
  attempts: ['Attempts', '尝试次数'],
  attemptsOf: [
    (attempts: string, failures: string) => `${attempts}, ${failures} of them failed`,
    (attempts: string, failures: string) => `${attempts} 次，其中 ${failures} 次失败`,
  ],
  modelsAbout: ['Models of this channel; each has its own circuit.', '该渠道的模型，各有独立的熔断器。'],
  modelsNone: ['No entry of `models` uses this channel.', '`models` 中没有条目使用该渠道。'],
  modelsOff: ['It receives no calls while it is off.', '未启用时不接收调用。'],
  there: [(name: string) => `upstream name: ${name}`, (name: string) => `上游名称：${name}`],
  inARow: [
    (count: string) => (count === '1' ? '1 failure in a row' : `${count} failures in a row`),
    (count: string) => `连续失败 ${count} 次`,
  ],
  turnOn: ['How to enable it', '如何启用'],
  turnOnVariable: [
    (name: string) =>
      `Its key comes from the environment variable \`${name}\`, which is empty. Set it in the environment of the gateway, then restart the gateway.`,
    (name: string) => `其密钥来自环境变量 \`${name}\`，目前为空。请在网关的环境中设置该变量，然后重启网关。`,
  ],
  turnOnFile: [
    (name: string) => `Its key comes from the file \`${name}\`, which is empty. Write the key there, and reload.`,
    (name: string) => `其密钥来自文件 \`${name}\`，目前为空。请把密钥写入该文件，然后重新加载。`,
  ],
  turnOnKey: [
    'Give it a `key` in gateway.yaml: the name of an environment variable, or of a file. Then reload.',
    '请在 gateway.yaml 中为它设置 `key`：环境变量名或文件名，然后重新加载。',
  ],
  setKey: ['Set its key here', '在此设置密钥'],
  seeLogs: ['View its calls in Logs', '在日志中查看其调用'],

  routes: ['Routes', '路由'],
  routesAbout: [
    'Channels are tried from left to right, then the fallbacks. Models that only channels without a key serve are not listed.',
    '从左到右依次尝试各渠道，然后尝试备用模型。仅由没有密钥的渠道提供的模型不在此列。',
  ],
  find: ['Find a model or channel', '查找模型或渠道'],
  all: [(count: string) => `All (${count})`, (count: string) => `全部（${count}）`],
  attention: [(count: string) => `Needs attention (${count})`, (count: string) => `需要关注（${count}）`],
  nothingFound: ['No matching routes', '没有符合条件的路由'],
  nothingWrong: ['Nothing needs attention: every route works and has a price', '无需关注：所有路由均正常且有价格'],
  chain: ['Route', '路由'],
  fallback: ['fallback', '备用'],
  aliasOf: [(model: string) => `alias of ${model}`, (model: string) => `${model} 的别名`],
  share: [(percent: string) => `${percent} of calls`, (percent: string) => `${percent} 的调用`],
  afterwards: ['then', '然后'],
  setPrice: [(model: string) => `Price ${model}`, (model: string) => `为 ${model} 定价`],
  noPriceAbout: ['Calls may be refused (402). Set a price.', '调用可能被拒绝（402），请设置价格。'],
  health: {
    well: ['Works', '正常'],
    degraded: ['Works in part', '部分正常'],
    fallback: ['On fallback', '使用备用模型'],
    down: ['Down', '不可用'],
  },
  healthAbout: {
    well: ['The circuit of every channel is closed.', '所有渠道均未熔断。'],
    degraded: [
      'The circuit of some channels is open; the others serve its calls.',
      '部分渠道已熔断，调用由其余渠道处理。',
    ],
    fallback: [
      'The circuit of all channels is open; a fallback serves its calls.',
      '所有渠道均已熔断，调用由备用模型处理。',
    ],
    down: [
      'The circuits of all channels and fallbacks are open: calls fail until one closes.',
      '所有渠道及备用模型均已熔断：恢复之前调用会失败。',
    ],
  },

  onlyDemo: ['No vendor yet', '还没有供应商'],
  onlyDemoAbout: [
    'Only the free demo vendor is connected. Add a vendor to call its models with the keys of this gateway.',
    '目前只接入了免费的演示供应商。添加供应商后，即可用本网关的密钥调用其模型。',
  ],
  waiting: [
    (names: string) => `These channels are in gateway.yaml but have no key: ${names}.`,
    (names: string) => `以下渠道已在 gateway.yaml 中，但没有密钥：${names}。`,
  ],
  addAbout: [
    'Vendors are configured in gateway.yaml. Choose one, then add the lines shown here to the file.',
    '供应商在 gateway.yaml 中配置。选择一个供应商，然后把这里显示的内容添加到该文件。',
  ],
  kinds: {
    openai: ['OpenAI', 'OpenAI'],
    anthropic: ['Anthropic', 'Anthropic'],
    gemini: ['Gemini', 'Gemini'],
    compatible: ['Compatible', '兼容接口'],
  },
  kindAbout: {
    openai: [
      'Chat, responses, embeddings, images, speech and transcription.',
      'Chat、Responses、向量、图片、语音合成和语音转写。',
    ],
    anthropic: ['Native Messages API. Other APIs are translated.', '原生 Messages API，其他 API 会自动转换。'],
    gemini: ['Native Gemini API. Other APIs are translated.', '原生 Gemini API，其他 API 会自动转换。'],
    compatible: [
      'Other OpenAI-compatible APIs: Groq, Mistral, DeepSeek, vLLM, Ollama …',
      '其他兼容 OpenAI 的 API：Groq、Mistral、DeepSeek、vLLM、Ollama 等。',
    ],
  },
  channelName: ['Channel name', '渠道名称'],
  channelNameWrong: [
    'Use at most 64 letters, digits, dots, dashes and underscores. Begin with a letter or digit.',
    '以字母或数字开头，只含字母、数字、点、短横线和下划线，最多 64 个字符。',
  ],
  channelNameTaken: ['A channel of this name exists. Choose another name.', '已有同名渠道，请换一个名称。'],
  url: ['Base URL', '基础 URL'],
  urlAbout: ['The part before /chat/completions.', '即 /chat/completions 之前的部分。'],
  urlWrong: [
    'Enter a URL such as https://api.example.com/v1, without user, query or fragment.',
    '请输入 URL，例如 https://api.example.com/v1，不含用户名、查询参数和片段。',
  ],
  modelNamesAbout: ['The vendor’s model names, separated by commas.', '供应商的模型名称，以逗号分隔。'],
  keyFrom: ['Key storage', '密钥存储方式'],
  keyKinds: { variable: ['Environment variable', '环境变量'], file: ['File', '文件'] },
  stepYaml: ['Add this to gateway.yaml', '把以下内容添加到 gateway.yaml'],
  stepYamlAbout: [
    'Add these lines to the existing sections. A model without a list price needs a price.',
    '把各行添加到已有的配置段中。没有公布价格的模型需要设置价格。',
  ],
  stepYamlPlugin: [
    (plugin: string) => `\`pipeline\` must list \`${plugin}\`; it does by default.`,
    (plugin: string) => `\`pipeline\` 必须包含 \`${plugin}\`；默认已包含。`,
  ],
  stepVariable: ['Set the key, and restart the gateway', '设置密钥并重启网关'],
  stepVariableAbout: [
    'The gateway reads environment variables at start, so a reload is not enough.',
    '网关在启动时读取环境变量，仅重新加载是不够的。',
  ],
  stepFile: ['Write the key into a file next to gateway.yaml', '把密钥写入 gateway.yaml 同目录下的文件'],
  stepFileAbout: [
    'Type the command, paste the key, then Enter and Ctrl+D.',
    '执行命令，粘贴密钥，然后按 Enter 和 Ctrl+D。',
  ],
  shell: ['Command for the shell', '命令行'],
  stepReload: ['Then Config → Reload', '然后到“配置”页面重新加载'],
  stepReloadAbout: [
    'A running gateway reloads a changed file automatically. Config shows whether the reload succeeded, and any errors in the file.',
    '运行中的网关会自动重新加载已修改的文件。“配置”页面显示是否成功，以及文件中的错误。',
  ],
  stepReloadAsk: [
    'Only root can open Config. It shows whether the reload succeeded, and any errors in the file.',
    '只有 root 可以打开“配置”页面，其中显示重新加载是否成功，以及文件中的错误。',
  ],
  stepTest: ['Come back here and press Test', '回到这里点击“测试”'],
  priceComment: ['your price per million tokens', '您的价格，每百万 Token'],
});
