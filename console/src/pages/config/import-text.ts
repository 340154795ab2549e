/** Texts of the tab that imports another gateway. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  title: ['Import from another gateway', '从其他网关导入'],
  about: [
    'Takes over users, keys, balances, channels, models and prices. The other gateway is only read. A dry run shows what would happen and changes nothing.',
    '导入用户、密钥、余额、渠道、模型和价格。只读取另一个网关。试运行会显示将发生什么，不做任何更改。',
  ],
  program: ['Program', '程序'],
  auto: ['Find out', '自动识别'],
  from: ['Read from', '读取来源'],
  file: ['SQLite file', 'SQLite 文件'],
  url: ['URL of the database', '数据库地址'],
  urlAbout: [
    'postgres://user:password@host/database. It is used for this import and not stored.',
    'postgres://用户:密码@主机/数据库。仅用于本次导入，不会保存。',
  ],
  chooseFile: ['Choose file', '选择文件'],
  fileAbout: [
    'At most 512 MB. It is deleted after the import. For larger files use `turnpike import` on the gateway’s machine.',
    '最大 512 MB，导入后会删除。更大的文件请在网关所在的机器上使用 `turnpike import`。',
  ],
  saltKey: ['Salt key of LiteLLM', 'LiteLLM 的 salt key'],
  saltKeyAbout: [
    'For LiteLLM: LITELLM_SALT_KEY, or the master key if there was none: it decrypts the models in the database. It is not stored.',
    '用于 LiteLLM：LITELLM_SALT_KEY；未设置时为主密钥。用于解密数据库中的模型，不会保存。',
  ],
  update: ['Take over what has changed there since the last import', '采用上次导入后那边的变更'],
  dryRun: ['Dry run', '试运行'],
  import: ['Import', '导入'],
  importTitle: ['Import now?', '现在导入？'],
  importAbout: [
    'Creates users, keys and balances, and merges channels, models and prices into the configuration as a new version. Make a backup first: an import cannot be undone in one step.',
    '将创建用户、密钥和余额，并把渠道、模型和价格作为新版本合并到配置中。请先备份：导入无法一步撤销。',
  ],
  uploading: [(percent: string) => `Uploading: ${percent}`, (percent: string) => `上传中：${percent}`],
  steps: {
    reading: ['Reading the other gateway', '正在读取另一个网关'],
    checking: ['Checking what would result', '正在检查结果'],
    writing: ['Writing users, keys and balances', '正在写入用户、密钥和余额'],
    configuring: ['Merging the configuration', '正在合并配置'],
  },
  states: {
    dry: ['Dry run', '试运行'],
    running: ['Running', '进行中'],
    done: ['Imported', '已导入'],
    failed: ['Failed', '失败'],
  },
  last: [
    (program: string, source: string) => `${program}, ${source}`,
    (program: string, source: string) => `${program}，${source}`,
  ],
  failed: ['The import failed', '导入失败'],
  proof: [
    (equal: string, calls: string) => `${equal} of ${calls} recorded calls cost the same here`,
    (equal: string, calls: string) => `${calls} 条记录的调用中有 ${equal} 条在这里费用相同`,
  ],
  noProof: [
    'Recorded calls were not compared: `turnpike import … --prove` computes them again with the imported prices.',
    '没有比较记录的调用：`turnpike import … --prove` 会用导入的价格重新计算。',
  ],
  counts: ['What becomes what', '导入结果'],
  kind: ['What', '内容'],
  there: ['There', '那边'],
  new: ['New', '新增'],
  changed: ['Changed', '变更'],
  unchanged: ['Unchanged', '未变'],
  left: ['Left', '未导入'],
  kinds: {
    department: ['Departments', '部门'],
    account: ['Accounts', '账户'],
    key: ['Keys', '密钥'],
    code: ['Redemption codes', '兑换码'],
    subscription: ['Subscriptions', '订阅'],
    order: ['Orders', '订单'],
    group: ['Groups', '分组'],
    channel: ['Channels', '渠道'],
    model: ['Models', '模型'],
    alias: ['Aliases', '别名'],
    price: ['Prices', '价格'],
    section: ['Settings', '设置'],
    secret: ['Secrets', '机密'],
  },
  balances: ['Balances there', '那边的余额'],
  balancesHere: ['Balances here', '这里的余额'],
  limits: ['Limits of keys there', '那边的密钥额度'],
  decide: ['To decide before the switch', '切换前需要决定'],
  changedNotes: [
    (count: string) => `${counted(count, 'thing is', 'things are')} here, but not as there`,
    (count: string) => `${count} 项已导入，但与那边不同`,
  ],
  leftNotes: [
    (count: string) => `${counted(count, 'thing was', 'things were')} not taken over`,
    (count: string) => `${count} 项未导入`,
  ],
  configuration: [
    (count: string) => counted(count, 'change of the configuration', 'changes of the configuration'),
    (count: string) => `${count} 项配置变更`,
  ],
  differences: [
    (count: string) => counted(count, 'price differs from the list price', 'prices differ from the list price'),
    (count: string) => `${count} 个价格与公布价格不同`,
  ],
  changeStates: {
    new: ['new', '新增'],
    changed: ['changed', '变更'],
    unchanged: ['unchanged', '未变'],
    differs: ['differs, stays as it is here', '不同，保持这里的值'],
  },
  more: [(count: string) => `and ${count} more`, (count: string) => `以及另外 ${count} 项`],
  allLines: ['Download every line', '下载全部内容'],
  handouts: ['Download links and keys', '下载链接和密钥'],
  handoutsAbout: [
    'Users get a link for a new password, or a new key. The next import deletes them here.',
    '用户会收到设置新密码的链接或新密钥。下次导入时会在此删除。',
  ],
});
