/** Texts of the system page. */
import { counted, texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: [
    'Health of the gateway process and its machine, with normal values and remedies.',
    '网关进程及其机器的健康状况，包括正常值和处理方法。',
  ],
  refresh: ['Refresh automatically', '自动刷新'],
  refreshAbout: ['Every 5 to 30 seconds while this page is visible.', '本页面可见时，每 5 到 30 秒刷新一次。'],
  asOf: [(clock: string) => `as of ${clock}`, (clock: string) => `截至 ${clock}`],
  moods: {
    good: ['Normal', '正常'],
    warn: ['Warning', '警告'],
    bad: ['Action required', '需要处理'],
    idle: ['Unknown', '未知'],
    info: ['Note', '提示'],
  },

  version: ['Version', '版本'],
  platform: [
    (node: string, platform: string) => `Node ${node}, ${platform}`,
    (node: string, platform: string) => `Node ${node}，${platform}`,
  ],
  since: [(moment: string) => `since ${moment}`, (moment: string) => `自 ${moment}`],
  inFlightNote: ['now', '当前'],
  inFlightAll: ['now, in all gateways', '当前，所有网关合计'],
  generation: [(number: string) => `number ${number}`, (number: string) => `编号 ${number}`],
  loaded: ['loaded', '加载于'],

  gateways: {
    title: ['Gateways', '网关'],
    about: [
      (name: string) =>
        `All gateways on this database. Running calls include all gateways; everything else on this page is about ${name}.`,
      (name: string) => `使用此数据库的所有网关。进行中的调用包括所有网关；本页其他内容只针对 ${name}。`,
    ],
    self: ['this gateway', '当前网关'],
    states: {
      starting: ['Starting', '启动中'],
      ready: ['Ready', '就绪'],
      busy: ['Busy', '繁忙'],
      draining: ['Stopping', '停止中'],
    },
    silent: ['Not answering', '无响应'],
    since: ['Started', '启动时间'],
    lately: [(count: string) => `${count} in 5 min`, (count: string) => `5 分钟内 ${count} 次`],
    memory: ['Memory', '内存'],
    share: [(percent: string) => `${percent} of the machine`, (percent: string) => `占机器的 ${percent}`],
    lag: ['Event loop delay, p99', '事件循环延迟 p99'],
    waiting: [
      (count: string) => (count === '1' ? '1 write queued' : `${count} writes queued`),
      (count: string) => `${count} 条等待写入`,
    ],
    notWritable: ['not writable', '无法写入'],
    differs: ['differs', '不一致'],
    limits: ['Rate limits', '速率限制'],
    countedAlone: ['in each gateway', '各网关分别计数'],
    countedOn: [(server: string) => `shared (${server})`, (server: string) => `共享（${server}）`],
    countedNot: [(server: string) => `${server} not reachable`, (server: string) => `无法连接 ${server}`],
  },

  process: ['Process', '进程'],
  memory: ['Process memory', '进程内存'],
  memoryAbout: [
    'Normally well below the memory of the machine or container. If it keeps rising for days, restart the gateway and report it. If memory is short, add more.',
    '正常情况下远低于机器或容器的内存。如果连续几天持续上升，请重启网关并报告问题。如果内存不足，请增加内存。',
  ],
  ofMachine: ['of available memory', '占可用内存'],
  heap: ['Heap', '堆'],
  heapAbout: [
    'Normally below 70% of the limit. Near the limit, the process slows down and then ends: raise the limit with `NODE_OPTIONS=--max-old-space-size=MEGABYTES`, or lower `limits.concurrent`.',
    '正常情况下低于上限的 70%。接近上限时进程会变慢直至退出：可用 `NODE_OPTIONS=--max-old-space-size=兆字节` 提高上限，或降低 `limits.concurrent`。',
  ],
  ofLimit: ['of the limit', '占上限'],
  lag: ['Event loop delay', '事件循环延迟'],
  lagAbout: [
    'How late scheduled work starts. A p99 below 50 ms is normal. Above 200 ms, all calls slow down: check the CPU below and other processes on this machine.',
    '任务延迟启动的时间。正常情况下 p99 低于 50 毫秒。超过 200 毫秒时所有调用都会变慢：请检查下面的 CPU 和这台机器上的其他进程。',
  ],
  lagValue: [
    (p50: string, p99: string, max: string) => `p50 ${p50} · p99 ${p99} · longest ${max}`,
    (p50: string, p99: string, max: string) => `p50 ${p50} · p99 ${p99} · 最长 ${max}`,
  ],
  lagUnknown: ['Available ten seconds after the start.', '启动十秒后可用。'],
  cpu: ['CPU of the process', '进程的 CPU'],
  cpuAbout: [
    'Calls run on one core. Normally below 70% of it over the last minute. Near 100%, calls wait: move other work to another machine, or add a second gateway.',
    '调用在一个核心上运行。正常情况下最近一分钟低于 70%。接近 100% 时调用会等待：请将其他工作移到其他机器，或增加一个网关。',
  ],
  cpuValue: [(share: string) => `${share} of one core`, (share: string) => `一个核心的 ${share}`],
  cpuUsed: [
    (user: string, system: string) => `since start: ${user} user, ${system} system`,
    (user: string, system: string) => `启动以来：用户态 ${user}，系统态 ${system}`,
  ],
  load: ['System load', '系统负载'],
  loadAbout: [
    'Load average over 1, 5 and 15 minutes. Up to the number of cores is normal; above it, other processes compete for the CPU.',
    '最近 1、5、15 分钟的平均负载。不超过核心数为正常；超过则说明其他进程在争用 CPU。',
  ],
  loadValue: [
    (loads: string, cores: string) => `${loads} on ${counted(cores, 'core')}`,
    (loads: string, cores: string) => `${loads}（${cores} 个核心）`,
  ],

  size: ['Size', '大小'],
  sizeValue: [
    (file: string, log: string) => `${file}, plus ${log} of WAL`,
    (file: string, log: string) => `${file}，另有 WAL ${log}`,
  ],
  sizeAbout: [
    'The write-ahead log (WAL) is merged into the file automatically; normally it is below 64 MB. If it keeps growing, a reader keeps it open, such as a backup or another tool.',
    '预写日志（WAL）会自动并入文件，正常情况下低于 64 MB。如果持续增长，说明有读取者一直占用，例如备份或其他工具。',
  ],
  unknown: ['Not reported by the database.', '数据库未报告。'],
  disk: ['Disk', '磁盘'],
  diskFree: [(bytes: string) => `${bytes} free`, (bytes: string) => `剩余 ${bytes}`],
  diskAbout: [
    'When the disk is full, calls cannot be charged and are refused. Normally more than 10% is free; otherwise shorten the retention (`log.keep`) or use a larger disk.',
    '磁盘写满后无法计费，调用会被拒绝。正常情况下剩余超过 10%；否则请缩短保留时间（`log.keep`），或换用更大的磁盘。',
  ],
  diskScarce: [
    'The disk is nearly full. Calls are served, but responses are no longer stored, so `previous_response_id` cannot continue them. Free space, or use a larger disk.',
    '磁盘即将写满。调用照常处理，但不再存储响应，无法通过 `previous_response_id` 继续。请腾出空间，或换用更大的磁盘。',
  ],
  writable: ['Writes', '写入'],
  writableValue: { yes: ['writable', '可以写入'], no: ['not writable', '无法写入'] },
  waiting: [
    (count: string) => (count === '1' ? '1 write queued' : `${count} writes queued`),
    (count: string) => `${count} 条等待写入`,
  ],
  writableAbout: [
    'Debits are written in the background; normally a few entries are queued. Thousands mean that the disk is too slow. At 10,000, calls are refused.',
    '扣费在后台写入，正常情况下只有几条等待。数千条说明磁盘太慢；达到 10,000 条时调用会被拒绝。',
  ],
  writableNot: [
    'Calls are refused until the database is writable again. Check whether the disk is full, and read the log of the gateway.',
    '数据库恢复可写之前，调用会被拒绝。请检查磁盘是否已满，并查看网关日志。',
  ],
  keeps: ['Retention', '保留时间'],
  keepsAbout: [
    'Older records are removed automatically; statistics are kept. Configured in gateway.yaml.',
    '更早的记录会自动删除，统计数据会保留。在 gateway.yaml 中配置。',
  ],
  keepsNone: ['Not configured in gateway.yaml.', 'gateway.yaml 中没有配置。'],
  sections: {
    log: ['Usage records', '用量记录'],
    responses: ['Stored responses', '存储的响应'],
    audit: ['Audit log', '审计日志'],
    prompts: ['Prompts and answers', '提示词和回答'],
  },
  nothingKept: ['not kept', '不保留'],

  versions: [
    (version: string, schema: string) =>
      `Version ${version}, database schema ${schema}. After a new version was installed, \`turnpike upgrade\` tests it with this configuration and a copy of the database, migrates the database of a stopped gateway, and restores it if that fails.`,
    (version: string, schema: string) =>
      `版本 ${version}，数据库架构 ${schema}。安装新版本后，\`turnpike upgrade\` 会用当前配置和数据库副本测试它，在网关停止时迁移数据库，如果失败则恢复原状。`,
  ],

  backup: ['Backup', '备份'],
  backupLast: ['Last backup', '最近一次备份'],
  backUpNow: ['Back up now', '立即备份'],
  backupRunning: ['A backup is running', '正在备份'],
  backupStarted: ['The backup was started. Its result appears here.', '备份已开始，结果会显示在此处。'],
  backupSchedule: [
    'To make scheduled backups, each proven by a restore, add this to gateway.yaml. `to` can also be S3-compatible object storage.',
    '如需定时备份，并通过恢复来验证每个备份，请在 gateway.yaml 中添加以下内容。`to` 也可以是兼容 S3 的对象存储。',
  ],
  backupByCommand: ['Or make one by command:', '或者用命令备份：'],
  backupUnproven: [
    'A backup by command, made in addition to the scheduled ones. It was not proven.',
    '通过命令进行的备份，不属于定时备份，未经验证。',
  ],
  backupFailed: ['The last scheduled backup failed', '最近一次定时备份失败'],
  backupFailedAbout: [
    'Nothing was stored. Correct the cause, then start a backup with the button. Without that, it is tried again after an hour.',
    '没有存储任何内容。请排除原因，然后用按钮开始备份；否则一小时后会自动重试。',
  ],
  proofFailedAbout: [
    (name: string) =>
      `The copy was stored as \`${name}\`, but do not rely on it: restoring it would fail. No older backup was deleted. Run \`turnpike reconcile\` and \`turnpike doctor\`.`,
    (name: string) =>
      `副本已存储为 \`${name}\`，但不可依赖：恢复会失败。没有删除任何旧备份。请运行 \`turnpike reconcile\` 和 \`turnpike doctor\`。`,
  ],
  provenLast: ['Last proven backup', '最近一次已验证的备份'],
  provenFine: [
    'It was restored into a scratch database, migrated, and all its invariants hold.',
    '已恢复到临时数据库并完成迁移，所有不变量均成立。',
  ],
  provenNone: ['The first one is made within a minute of the start.', '第一次备份会在启动后一分钟内进行。'],
  provenOld: [
    'No backup was proven for more than two intervals. Read the log of the gateway, and start one with the button.',
    '超过两个间隔没有已验证的备份。请查看网关日志，并用按钮开始备份。',
  ],
  provenFailed: ['This one can be restored. All later ones failed.', '此备份可以恢复，之后的备份都失败了。'],
  schedule: ['Schedule', '备份计划'],
  scheduleAbout: [
    'Configured in gateway.yaml. Backups that none of the numbers covers are deleted after a proven one was stored.',
    '在 gateway.yaml 中配置。存储已验证的备份后，会删除不在保留范围内的备份。',
  ],
  scheduleEvery: ['Every', '间隔'],
  scheduleTo: ['Stored in', '存储位置'],
  scheduleKeep: ['Kept', '保留'],
  kept: [
    (last: string, daily: string, weekly: string) => `${last} newest, ${daily} daily, ${weekly} weekly`,
    (last: string, daily: string, weekly: string) => `最新 ${last} 个，每日 ${daily} 个，每周 ${weekly} 个`,
  ],
  scheduleEncrypted: ['Encrypted', '加密'],
  isEncrypted: ['yes', '是'],
  isPlain: ['no', '否'],
  runs: ['Latest scheduled backups', '最近的定时备份'],
  runTook: ['Duration', '用时'],
  runFound: ['Proof', '验证'],
  runName: ['File', '文件'],
  runProof: [
    (invariants: string, migrations: string) =>
      `restored, ${counted(migrations, 'migration')}, ${counted(invariants, 'invariant holds', 'invariants hold')}`,
    (invariants: string, migrations: string) => `已恢复，${migrations} 次迁移，${invariants} 项不变量成立`,
  ],
  proven: ['Proven', '已验证'],
  notProven: ['Not proven', '未通过验证'],
  notStored: ['Failed', '失败'],
  backupOf: [
    (name: string, bytes: string, ms: string) => `${name}, ${bytes}, made in ${ms}`,
    (name: string, bytes: string, ms: string) => `${name}，${bytes}，用时 ${ms}`,
  ],
  backupFine: ['Back up daily, at least weekly, to another disk.', '请每天备份，至少每周一次，并备份到另一块磁盘。'],
  backupOld: [
    'The last backup is older than a week. Make one now, and schedule daily backups.',
    '最近一次备份已超过一周。请立即备份，并设置每天自动备份。',
  ],
  differingTitle: [
    (gateways: string) => `Other gateways run with another configuration: ${gateways}`,
    (gateways: string) => `其他网关使用不同的配置：${gateways}`,
  ],
  differingAbout: [
    'All gateways on one database should have the same gateway.yaml. After a change, they reload within seconds; otherwise copy the file to each, and check the logs of those that did not reload.',
    '同一数据库上的所有网关应使用相同的 gateway.yaml。修改后，它们会在几秒内重新加载；否则请将文件复制到每台机器，并查看未重新加载的网关的日志。',
  ],
  proxyTitle: [
    (peer: string) => `Requests are forwarded by ${peer}, which is not trusted`,
    (peer: string) => `请求由 ${peer} 转发，而它不受信任`,
  ],
  proxyAbout: [
    'If it is your proxy, add it to gateway.yaml. Until then, rate limits, key address lists and logs see its address for all users.',
    '如果它是您的代理，请添加到 gateway.yaml。在此之前，速率限制、密钥的地址限制和日志中所有用户的地址都是它的地址。',
  ],
  backupNone: ['No backup yet', '还没有备份'],
  backupNoneAbout: [
    'Without a backup, balances and records are lost with the disk. The gateway keeps running during a backup:',
    '没有备份时，磁盘损坏会丢失余额和记录。备份时网关可以继续运行：',
  ],
  backupCommand: ['Backup command', '备份命令'],
  backupDaily: [
    'For a backup every night, add this line with `crontab -e`:',
    '如需每晚自动备份，请通过 `crontab -e` 添加此行：',
  ],
  backupCron: ['Line for crontab', 'crontab 内容'],
  backupKey: [
    (file: string) =>
      `Backups do not contain the master key that encrypts secrets. Keep a separate copy of ${file} (or of TURNPIKE_MASTER_KEY).`,
    (file: string) => `备份不包含用于加密机密的主密钥。请另外保存一份 ${file}（或 TURNPIKE_MASTER_KEY）。`,
  ],

  doctor: {
    title: ['Doctor', '诊断'],
    about: [
      'The checks of `turnpike doctor`: configuration, files, disk, TLS, proxies, backups, clock, vendors, mail server. To test the key of a vendor whose list of models is public, it makes one short call at your expense.',
      '`turnpike doctor` 的检查：配置、文件、磁盘、TLS、代理、备份、时钟、供应商、邮件服务器。如果供应商的模型列表是公开的，会进行一次短调用来测试密钥，费用由您承担。',
    ],
    run: ['Run checks', '开始检查'],
    none: ['Nothing was checked since this page was opened.', '打开本页后还没有检查。'],
    sum: [
      (problems: string, warnings: string, good: string) =>
        [
          `${problems} ${problems === '1' ? 'problem' : 'problems'}`,
          `${warnings} ${warnings === '1' ? 'warning' : 'warnings'}`,
          `${good} ${good === '1' ? 'check' : 'checks'} passed`,
        ].join(', '),
      (problems: string, warnings: string, good: string) =>
        `${problems} 个问题，${warnings} 个提示，${good} 项检查通过`,
    ],
    topic: ['Topic', '项目'],
    finding: ['Finding and remedy', '结果与处理方法'],
    levels: { ok: ['Good', '正常'], warning: ['Note', '提示'], problem: ['Problem', '问题'] },
  },

  liveAbout: [
    'Oldest first. While the pointer is over the list, ended calls stay in it.',
    '最早的在前。指针停在列表上时，已结束的调用会保留在列表中。',
  ],
  liveMore: [
    (shown: string, total: string) => `The newest ${shown} of ${total}.`,
    (shown: string, total: string) => `共 ${total} 个，显示最新的 ${shown} 个。`,
  ],
  liveNone: ['No calls are running.', '没有进行中的调用。'],
  passage: ['passthrough', '透传'],
  phases: {
    waiting: ['waiting', '等待中'],
    asking: ['waiting for the vendor', '等待供应商'],
    answering: ['answering', '正在回答'],
    ended: ['ended', '已结束'],
  },
  attempt: [(number: string) => `attempt ${number}`, (number: string) => `第 ${number} 次尝试`],
  stream: ['stream', '流式'],
  started: ['Started', '开始'],

  hour: ['The last hour', '最近一小时'],
  hourAbout: [
    'One reading every ten seconds since the process started, up to an hour.',
    '进程启动以来每十秒一个读数，最多一小时。',
  ],
  charts: {
    memory: ['Memory', '内存'],
    rss: ['Process', '进程'],
    heap: ['Heap', '堆'],
    lag: ['Event loop, p99', '事件循环延迟 p99'],
    cpu: ['CPU, cores', 'CPU（核心）'],
    waiting: ['Queued writes', '等待写入'],
  },
});
