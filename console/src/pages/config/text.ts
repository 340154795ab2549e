/** Texts of the config page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    (file: string) =>
      `The settings of ${file}, as forms and as text. Saving checks them, writes the file and loads it at once; running calls finish with the settings they began with.`,
    (file: string) =>
      `${file} 的设置，可用表单或文本编辑。保存时会检查、写入文件并立即加载；进行中的调用按开始时的设置完成。`,
  ],
  reloadNothing: ['The file is already running', '该文件已在运行'],
  reloaded: ['Reloaded. This configuration is now running.', '已重新加载。此配置正在运行。'],
  refused: ['Reload failed', '重新加载失败'],
  refusedAbout: [
    'The gateway keeps its running configuration. Correct the errors below, then reload.',
    '网关继续使用正在运行的配置。请改正以下错误，然后重新加载。',
  ],

  states: { same: ['Running', '运行中'], changed: ['Changed', '已修改'], wrong: ['Invalid', '无效'] },
  stateAbout: {
    same: ['The running configuration is the file on disk.', '正在运行的配置与磁盘上的文件相同。'],
    changed: [
      'The file differs from the running configuration. The gateway reloads it automatically within moments; Reload does it now.',
      '文件与正在运行的配置不同。网关稍后会自动重新加载；点击“重新加载”可立即执行。',
    ],
    wrong: [
      'The file on disk is invalid. The gateway keeps its running configuration, and could not start with this file.',
      '磁盘上的文件无效。网关继续使用正在运行的配置，用该文件将无法启动。',
    ],
  },
  inStore: [
    'The configuration is in the database. Every gateway on it loads what is saved; “on disk” means the text in the database.',
    '配置保存在数据库中，使用该数据库的每个网关都会加载保存的内容；“磁盘上”指数据库中的文本。',
  ],
  generation: [(number: string) => `number ${number}`, (number: string) => `编号 ${number}`],
  generationNote: ['counted from 1 since the start', '启动以来从 1 计数'],
  loaded: ['Loaded', '加载时间'],
  modified: ['File changed', '文件修改时间'],
  modifiedNever: ['cannot be read', '无法读取'],

  tabs: {
    settings: ['Settings', '设置'],
    draft: ['Edit file', '编辑文件'],
    versions: ['Versions', '版本'],
    secrets: ['Secrets', '机密'],
    import: ['Import', '导入'],
    disk: ['File on disk', '磁盘上的文件'],
    running: ['Running', '正在运行'],
    difference: ['Difference', '差异'],
    report: ['Report', '报告'],
  },
  tabsLabel: ['Views of the configuration', '配置的各种视图'],
  masked: [
    (count: string) =>
      count === '1'
        ? '1 secret is masked: •••• and six characters derived from it. Equal masks mean equal secrets.'
        : `${count} secrets are masked: •••• and six characters derived from each. Equal masks mean equal secrets.`,
    (count: string) => `已隐藏 ${count} 个机密：•••• 加由机密得出的六个字符。掩码相同表示机密相同。`,
  ],

  problems: [(count: string) => (count === '1' ? '1 error' : `${count} errors`), (count: string) => `${count} 个错误`],
  warnings: [
    (count: string) => (count === '1' ? '1 warning' : `${count} warnings`),
    (count: string) => `${count} 个警告`,
  ],
  remarks: ['Errors and warnings', '错误与警告'],
  problem: ['Error', '错误'],
  warning: ['Warning', '警告'],
  line: [(line: string) => `Line ${line}`, (line: string) => `第 ${line} 行`],
  noRemarks: ['No errors or warnings.', '没有错误，也没有警告。'],

  diskLabel: [(file: string) => `${file} on disk, read-only`, (file: string) => `磁盘上的 ${file}，只读`],
  runningLabel: [(file: string) => `${file} as running, read-only`, (file: string) => `正在运行的 ${file}，只读`],
  draftLabel: [(file: string) => `Draft of ${file}`, (file: string) => `${file} 的草稿`],

  key: ['What is this?', '这是什么？'],
  keyNone: [
    'Point at a line, or move the cursor to it with the arrow keys, to see its description.',
    '把指针移到某一行，或用方向键把光标移到该行，即可查看说明。',
  ],
  keyUnknown: ['Unknown setting.', '未知的设置。'],
  keyOwn: ['A name that you choose.', '由您自行命名。'],
  keyNoDescription: ['No description.', '没有说明。'],
  types: {
    string: ['text', '文本'],
    number: ['number', '数字'],
    integer: ['whole number', '整数'],
    boolean: ['true or false', 'true 或 false'],
    object: ['section', '配置段'],
    array: ['list', '列表'],
    null: ['null', 'null'],
  },
  or: [' or ', ' 或 '],
  usual: ['Default', '默认值'],
  allowed: ['Allowed', '允许的值'],
  examples: ['For example', '例如'],
  range: ['Range', '范围'],
  least: [(least: string) => `at least ${least}`, (least: string) => `至少 ${least}`],
  most: [(most: string) => `at most ${most}`, (most: string) => `至多 ${most}`],
  between: [
    (least: string, most: string) => `${least} to ${most}`,
    (least: string, most: string) => `${least} 至 ${most}`,
  ],
  above: [(least: string) => `more than ${least}`, (least: string) => `大于 ${least}`],
  required: ['Required.', '必须填写。'],
  inside: ['Inside', '位于'],
  reference: ['Reference', '引用'],
  referenceOf: {
    variable: [(name: string) => `The environment variable ${name}.`, (name: string) => `环境变量 ${name}。`],
    usual: [
      (name: string, usual: string) => `The environment variable ${name}; “${usual}” if it is unset or empty.`,
      (name: string, usual: string) => `环境变量 ${name}；未设置或为空时使用“${usual}”。`,
    ],
    file: [
      (path: string) => `The content of the file ${path}, relative to this file.`,
      (path: string) => `文件 ${path} 的内容（相对于本文件）。`,
    ],
  },

  sameTitle: ['No difference', '没有差异'],
  sameAbout: ['The running configuration and the file are identical.', '正在运行的配置与文件相同。'],
  sameDraft: ['The draft is identical to the file.', '草稿与文件相同。'],
  diffRunning: ['Running configuration → file', '正在运行的配置 → 文件'],
  diffDraft: ['File → draft', '文件 → 草稿'],
  diffLegend: ['− removed, + added.', '− 表示删除，+ 表示新增。'],
  diffCounts: [
    (gone: string, come: string) => `−${gone} +${come}`,
    (gone: string, come: string) => `−${gone} +${come}`,
  ],
  oldLine: ['Line before', '原行号'],
  newLine: ['Line after', '新行号'],
  sign: ['Change', '变化'],
  text: ['Text', '内容'],
  skipped: [
    (count: string) => (count === '1' ? '1 unchanged line' : `${count} unchanged lines`),
    (count: string) => `${count} 行未更改`,
  ],
  tooMany: [(count: string) => `Only the first ${count} lines are shown.`, (count: string) => `仅显示前 ${count} 行。`],

  reportTitle: ['Report on the file on disk', '磁盘上文件的报告'],
  reportDraft: ['Report on the draft', '草稿的报告'],
  reportAbout: ['The output of `turnpike check`.', '即 `turnpike check` 的输出。'],
  reportNone: ['No report while there are errors', '有错误时没有报告'],
  reportNoneAbout: ['Correct the errors above.', '请改正上面的错误。'],
  groups: {
    phases: ['Phases of a call', '调用的阶段'],
    parts: ['Components', '组件'],
    plugins: ['Plugin reports', '插件报告'],
  },

  draftAbout: [
    (file: string) =>
      `The text of ${file} with your unsaved changes. Check validates it; “Review and save” shows the difference, writes the file and loads it.`,
    (file: string) => `${file} 的文本，包含您未保存的更改。“检查”会验证它；“查看并保存”会显示差异、写入文件并加载。`,
  ],
  draftOnlyAbout: [
    (file: string) =>
      `Edit a copy in this browser and let the gateway validate it. Then copy the text, or only the changed lines, into ${file} on the server.`,
    (file: string) => `在此浏览器中编辑副本，由网关验证，然后将文本或仅将有改动的行复制到服务器上的 ${file} 中。`,
  ],
  check: ['Check', '检查'],
  copy: ['Copy all', '全部复制'],
  byHand: [
    'The browser blocked copying. The text is selected: press Ctrl+C.',
    '浏览器阻止了复制。文本已选中，请按 Ctrl+C。',
  ],
  save: ['Save as a file', '另存为文件'],
  draftMasksKept: [
    (count: string) =>
      count === '1'
        ? '1 secret is masked. The mask stands for the secret: saving keeps it.'
        : `${count} secrets are masked. The masks stand for the secrets: saving keeps them.`,
    (count: string) => `已隐藏 ${count} 个机密。掩码代表机密本身，保存时会保留。`,
  ],
  draftMasks: [
    (count: string) =>
      count === '1'
        ? '1 secret in the draft is masked. The check treats the mask as the secret. Copy only the lines that differ, so that the file keeps the secret itself.'
        : `${count} secrets in the draft are masked. The check treats the masks as the secrets. Copy only the lines that differ, so that the file keeps the secrets themselves.`,
    (count: string) =>
      `草稿中 ${count} 个机密已隐藏。检查时会把掩码当作机密。请只复制有差异的行，以便文件保留机密本身。`,
  ],
  checkFine: ['Valid.', '有效。'],
  checkWrong: ['Invalid.', '无效。'],
  checkOld: ['The draft has changed since the check. Check it again.', '检查之后草稿已修改，请重新检查。'],
  checkRefs: [
    'A draft can refer only to variables and files that the file already uses.',
    '草稿只能引用文件已使用的变量和文件。',
  ],
  tooLong: ['A configuration can have at most 256 KiB.', '配置最多 256 KiB。'],
});
