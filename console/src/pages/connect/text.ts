/** Texts of the connect page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'Choose a client, a key and a model; copy the configuration, then test it.',
    '选择客户端、密钥和模型，复制配置，然后测试。',
  ],
  client: ['Client', '客户端'],
  kinds: {
    cli: ['Terminal', '终端'],
    editor: ['Editors', '编辑器'],
    app: ['Applications', '应用'],
    sdk: ['SDKs', 'SDK'],
    shell: ['Shell', 'Shell'],
  },
  keyAndModel: ['Key and model', '密钥与模型'],
  keyAbout: ['The key that the client uses.', '客户端使用的密钥。'],
  making: [
    (client: string) => `Creates a key called “${client}” for all models that never expires. Change it under Keys.`,
    (client: string) => `创建名为“${client}”的密钥，可调用全部模型，永不过期。可在“密钥”页面修改。`,
  ],
  made: [
    'Key created. Copy it, or the configuration that contains it, now: it is not shown again after you leave this page.',
    '密钥已创建。请立即复制密钥或包含它的配置：离开本页后将不再显示。',
  ],
  paste: ['Paste the key', '粘贴密钥'],
  pasteAbout: [
    (shown: string) =>
      `Only a hash of the key is stored, so ${shown} cannot be shown again. The key that you paste fills in the snippets and does not leave this page.`,
    (shown: string) => `系统只保存密钥的哈希值，因此无法再次显示 ${shown}。粘贴的密钥会填入代码片段，且不会离开本页。`,
  ],
  pasteWrong: ['A key begins with “sk-” and has no spaces.', '密钥以“sk-”开头，且不含空格。'],
  pasteOther: [
    (shown: string) => `This is not the key chosen above (${shown}). The snippets still use it.`,
    (shown: string) => `这不是上面选择的密钥（${shown}）。代码片段仍会使用它。`,
  ],
  modelAbout: [
    (style: string) => `Models that this key can call and that support ${style}.`,
    (style: string) => `此密钥可以调用且支持 ${style} 的模型。`,
  ],
  noModel: ['No model supports this API', '没有模型支持此 API'],
  setUp: [(client: string) => `Set up ${client}`, (client: string) => `配置 ${client}`],
  shell: ['Shell type', 'Shell 类型'],
  sh: ['macOS, Linux', 'macOS、Linux'],
  powershell: ['Windows PowerShell', 'Windows PowerShell'],
  placeholder: [
    'Replace sk-… with your key: create a new one, or paste yours.',
    '请将 sk-… 替换为您的密钥：创建新密钥，或粘贴已有密钥。',
  ],
  linkNeedsKey: ['Create or paste a key first: the link contains it.', '请先创建或粘贴密钥：链接中包含密钥。'],
  address: ['Address', '地址'],
  needsHttps: [
    (client: string, address: string) =>
      `${client} calls from its vendor's servers and cannot reach ${address}. Open the console at a public https address of this gateway; the configuration below then uses that address.`,
    (client: string, address: string) =>
      `${client} 从其供应商的服务器发起调用，无法访问 ${address}。请通过此网关的公网 https 地址打开控制台，下方配置将使用该地址。`,
  ],
  container: [
    (address: string) =>
      `In a container, ${address} is the container itself. Use host.docker.internal or the name of this machine instead.`,
    (address: string) => `在容器中，${address} 指容器本身。请改用 host.docker.internal 或这台机器的名称。`,
  ],
  insecure: [
    (address: string) =>
      `${address} is plain http: anyone on the network between you and the gateway can read the key. Use https.`,
    (address: string) => `${address} 是明文 http：您与网关之间网络上的任何人都能读取密钥。请使用 https。`,
  ],
  styles: {
    chat: ['Chat Completions', 'Chat Completions'],
    messages: ['Messages', 'Messages'],
    responses: ['Responses', 'Responses'],
  },
  testAbout: [
    (style: string) => `Makes one short ${style} API call, as the client would. It is charged as usual.`,
    (style: string) => `像客户端那样发起一次简短的 ${style} API 调用，照常计费。`,
  ],
  testNow: ['Test now', '立即测试'],
  withKey: ['The test uses the full key.', '测试使用完整密钥。'],
  withSession: [
    'Only a hash of the key is stored, so the call refers to the key by its ID. Everything except the secret itself is tested.',
    '系统只保存密钥的哈希值，因此调用按 ID 引用密钥。除密钥原文外，其余均会测试。',
  ],
  answers: ['It works', '测试成功'],
  nothingSaid: [
    'The model used all 40 tokens of this test before it produced text. Reasoning models may do this.',
    '模型在输出文本之前用完了本次测试的 40 个 Token。推理模型可能如此。',
  ],
  cut: ['cut off after 40 tokens', '在 40 个 Token 处截断'],
  total: ['Total', '总用时'],
  failed: ['Test failed', '测试失败'],
  stopped: ['Stopped.', '已停止。'],
});
