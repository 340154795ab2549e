/** Texts of the security page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  about: ['Sign-in methods, second factors and sessions.', '登录方式、双重验证和会话。'],
  saved: ['Saved.', '已保存。'],
  on: ['On', '已启用'],
  off: ['Off', '未启用'],
  connected: [
    (label: string) => `${label} is linked. You can now sign in with it.`,
    (label: string) => `已关联 ${label}，以后可以用它登录。`,
  ],
  connectFailed: ['The account could not be linked. Try again.', '无法关联该账户，请重试。'],
  dismiss: ['Dismiss', '关闭'],
  factors: {
    title: ['Second factors', '双重验证'],
    about: [
      'Required in addition to the password, and for sensitive actions.',
      '除密码外还需要验证；敏感操作也需要验证。',
    ],
    missing: [
      'You have no second factor: a stolen password is enough to sign in and to perform sensitive actions.',
      '您还没有设置双重验证：密码被盗即可登录并进行敏感操作。',
    ],
    unavailable: [
      'This gateway has no second factors: `pipeline` does not list the plugin second-factors.',
      '此网关没有启用双重验证：`pipeline` 中没有插件 second-factors。',
    ],
  },
  totp: {
    about: ['A six-digit code after the password.', '输入密码之后，再输入六位验证码。'],
    codesLeft: [
      (left: number) => (left === 1 ? '1 backup code left.' : `${left} backup codes left.`),
      (left: number) => `还剩 ${left} 个备用码。`,
    ],
    fewLeft: ['Generate new codes before you run out.', '请在用完之前生成新的备用码。'],
    locked: ['Too many incorrect codes. Try again later.', '验证码错误次数过多，请稍后再试。'],
    setUp: ['Set up', '设置'],
    renew: ['New backup codes', '新的备用码'],
    enabled: [
      'Two-factor authentication is enabled. All your other sessions have ended.',
      '双重验证已启用，您的其他会话均已结束。',
    ],
    disabled: [
      'Two-factor authentication is disabled. All your other sessions have ended.',
      '双重验证已停用，您的其他会话均已结束。',
    ],
    disableAbout: [
      'You will sign in with the password alone. All your other sessions end. Enter a code to confirm.',
      '停用后，仅凭密码即可登录。您的其他会话都会结束。请输入验证码以确认。',
    ],
    renewAbout: [
      'Your current codes become invalid, and all your other sessions end. Enter an authenticator code.',
      '现有的备用码将作废，您的其他会话都会结束。请输入身份验证器应用中的验证码。',
    ],
    renewGo: ['Generate codes', '生成备用码'],
  },
  setup: {
    title: ['Set up an authenticator app', '设置身份验证器应用'],
    scan: [
      'Scan this QR code with an authenticator app such as 2FAS, Aegis, Google Authenticator or a password manager.',
      '用身份验证器应用扫描此二维码，例如 2FAS、Aegis、Google Authenticator 或密码管理器。',
    ],
    qr: ['QR code for the authenticator app', '身份验证器应用的二维码'],
    byHand: ['Or enter this key in the app:', '也可以在应用中手动输入此密钥：'],
    copyKey: ['Copy key', '复制密钥'],
    code: ['Current code from the app', '应用当前显示的验证码'],
    backupTitle: ['Keep your backup codes', '请保存备用码'],
  },
  backup: {
    about: [
      'If you lose the app, each code signs you in once. The codes are shown only once: store them with your passwords.',
      '如果丢失了身份验证器应用，每个备用码可以登录一次。备用码只显示一次，请与密码一起保存。',
    ],
    list: ['Backup codes', '备用码'],
    download: ['Download', '下载'],
    kept: ['I have saved them', '我已保存'],
  },
  passkey: {
    about: [
      'Sign in with the fingerprint, face or PIN of this device, without a password.',
      '用本设备的指纹、面容或 PIN 登录，无需密码。',
    ],
    used: ['last used', '上次使用'],
    unused: ['never used', '从未使用'],
    add: ['Add passkey', '添加通行密钥'],
    added: ['The passkey was added. All your other sessions have ended.', '通行密钥已添加，您的其他会话均已结束。'],
    removed: ['The passkey was removed. All your other sessions have ended.', '通行密钥已移除，您的其他会话均已结束。'],
    removeTitle: ['Remove the passkey?', '移除通行密钥？'],
    removeAbout: [
      'You can no longer sign in with it, and all your other sessions end. Delete it on your device as well.',
      '将不能再用它登录，您的其他会话都会结束。请同时在设备上删除它。',
    ],
    insecure: [
      'Passkeys require https (or localhost), but this page uses plain http.',
      '通行密钥需要 https（或 localhost），而此页面使用 http。',
    ],
    otherOrigin: [
      'Passkeys of this gateway only work at another address. Open the console there:',
      '此网关的通行密钥只能在另一个地址使用。请在该地址打开控制台：',
    ],
    unsupported: ['This browser does not support passkeys.', '此浏览器不支持通行密钥。'],
  },
  check: {
    name: ['Confirmation of sensitive actions', '敏感操作验证'],
    none: [
      'Sensitive actions require your second factor once every five minutes.',
      '敏感操作需要双重验证，之后五分钟内不再询问。',
    ],
    left: [
      (minutes: number, seconds: number) =>
        `Confirmed. You will not be asked again for ${minutes}:${String(seconds).padStart(2, '0')}.`,
      (minutes: number, seconds: number) => `已确认，${minutes}:${String(seconds).padStart(2, '0')} 内不再询问。`,
    ],
    valid: ['Valid', '有效'],
    now: ['Confirm now', '立即验证'],
  },
  profile: {
    usernameAbout: ['Your sign-in name. Changing it does not affect your keys.', '用于登录。修改后不影响密钥。'],
    displayAbout: ['Shown in the console.', '在控制台中显示。'],
    language: [
      'Choose the language of the console at the top of the page. It is stored in this browser.',
      '控制台的语言在页面上方选择，保存在此浏览器中。',
    ],
  },
  email: {
    none: [
      'None yet. Add one to reset your password and to receive notifications when your balance is low.',
      '尚未添加。添加后，可以重置密码，并在余额不足时收到通知。',
    ],
    is: ['For password resets and notifications:', '用于重置密码和接收通知：'],
    add: ['Add email address', '添加邮箱'],
    change: ['Change', '更换'],
    go: ['Save email address', '保存邮箱'],
    done: ['Email address saved.', '邮箱已保存。'],
    unavailable: [
      'This gateway sends no email, so addresses cannot be verified.',
      '此网关不发送邮件，因此无法验证邮箱。',
    ],
    askFirst: ['Send a code to the address, then enter it.', '请先向该邮箱发送验证码，再填写验证码。'],
  },
  password: {
    none: [
      'You have no password: you sign in with an OAuth account or a passkey. Set a password to sign in with your username as well.',
      '您没有密码，通过第三方账户或通行密钥登录。设置密码后也可以用用户名登录。',
    ],
    current: ['Current password', '当前密码'],
    go: ['Change password', '修改密码'],
    done: ['Your password is changed. All your other sessions have ended.', '密码已修改，您的其他会话均已结束。'],
  },
  links: {
    title: ['Linked accounts', '关联账户'],
    about: ['Sign in with an OAuth account.', '使用第三方账户登录。'],
    as: [(subject: string) => `Linked as ${subject}`, (subject: string) => `已关联：${subject}`],
    not: ['Not linked', '未关联'],
    connect: ['Link', '关联'],
    gone: ['Provider no longer configured', '该登录方式已不再配置'],
    title2: [(label: string) => `Unlink ${label}?`, (label: string) => `解除与 ${label} 的关联？`],
    about2: [
      'You can no longer sign in with it. All your other sessions end.',
      '将不能再用它登录。您的其他会话都会结束。',
    ],
    done: ['Unlinked. All your other sessions have ended.', '已解除关联，您的其他会话均已结束。'],
  },
  notices: {
    title: ['Notifications', '通知'],
    wanted: ['Notify me when my balance is low', '余额不足时通知我'],
    below: ['Threshold', '阈值'],
    email: ['Email', '邮件'],
    webhook: ['Webhook', 'Webhook'],
    toAbout: [
      (own: string) =>
        own === '' ? 'Required, because your account has no email address.' : `Leave it empty to use ${own}.`,
      (own: string) => (own === '' ? '您的账户没有邮箱，因此必须填写。' : `留空则使用 ${own}。`),
    ],
    noLetters: ['This gateway sends no email. Choose a webhook.', '此网关不发送邮件，请选择 Webhook。'],
    logged: [
      'This gateway sends no email: notifications are written to its log.',
      '此网关不发送邮件：通知写入其日志。',
    ],
    url: ['Webhook URL', 'Webhook 地址'],
    urlAbout: [
      'Receives a POST request with JSON. Must be a public address.',
      '接收 JSON 格式的 POST 请求。必须是公网地址。',
    ],
    secret: ['Webhook secret', 'Webhook 密钥'],
    secretAbout: [
      'Signs each notification, in the header X-Webhook-Signature.',
      '用于签名每条通知，签名在请求头 X-Webhook-Signature 中。',
    ],
    secretSet: ['A secret is set. Leave this empty to keep it.', '已设置；留空则保持不变。'],
    forget: ['Remove secret', '移除密钥'],
    budgets: [
      'Email me when a budget of my keys or my plan is nearly used',
      '我的密钥或套餐的预算即将用完时发邮件给我',
    ],
    budgetsAbout: ['If alerts are enabled at this gateway.', '仅在此网关启用警报时有效。'],
    ips: ['Show client IP addresses in my logs', '在我的日志中显示客户端 IP 地址'],
    amountMissing: ['Enter a threshold.', '请填写阈值。'],
    addressMissing: ['Enter an email address.', '请填写邮箱。'],
  },
  sessions: {
    about: ['Browsers and devices that are signed in to your account.', '已登录您账户的浏览器和设备。'],
    device: ['Device', '设备'],
    method: ['Signed in with', '登录方式'],
    seen: ['Last active', '上次活动'],
    since: ['Signed in', '登录时间'],
    this: ['Current session', '当前会话'],
    end: ['End', '结束'],
    endOne: [(device: string) => `End the session: ${device}`, (device: string) => `结束会话：${device}`],
    endOthers: ['End all other sessions', '结束所有其他会话'],
    endTitle: ['End this session?', '结束此会话？'],
    endAbout: [(device: string) => `${device} must sign in again.`, (device: string) => `${device} 需要重新登录。`],
    othersTitle: ['End all other sessions?', '结束所有其他会话？'],
    othersAbout: [
      'Other devices must sign in again, and the access token stops working. Keys keep working.',
      '其他设备需要重新登录，访问令牌也会失效。密钥不受影响。',
    ],
    ended: ['The session has ended.', '会话已结束。'],
    endedOthers: [
      (count: number) => (count === 1 ? '1 session has ended.' : `${count} sessions have ended.`),
      (count: number) => `已结束 ${count} 个会话。`,
    ],
    unknown: ['Unknown device', '未知设备'],
    on: [
      (browser: string, system: string) => `${browser} on ${system}`,
      (browser: string, system: string) => `${system} 上的 ${browser}`,
    ],
  },
  token: {
    title: ['Access token', '访问令牌'],
    about: [
      'Lets tools use /api as you, for example to manage keys and read logs. To call models, use a key.',
      '供工具以您的身份使用 /api，例如管理密钥、读取日志。调用模型请使用密钥。',
    ],
    none: ['No access token.', '没有访问令牌。'],
    until: ['expires', '到期时间'],
    validFor: [
      (days: number) => `A new token is valid for ${days} ${days === 1 ? 'day' : 'days'}.`,
      (days: number) => `新令牌有效 ${days} 天。`,
    ],
    make: ['Create access token', '创建访问令牌'],
    renew: ['Renew', '更新'],
    renewTitle: ['Renew the access token?', '更新访问令牌？'],
    renewAbout: [
      'The current token stops working at once, and so do the tools that use it.',
      '现有的令牌会立即失效，使用它的工具也会停止工作。',
    ],
    removeTitle: ['Remove the access token?', '移除访问令牌？'],
    removeAbout: ['Tools that use it stop working at once.', '使用它的工具会立即停止工作。'],
    shownTitle: ['Your access token', '您的访问令牌'],
    shown: [
      'It is shown only once. Send it in the header Authorization.',
      '只显示一次。请放在请求头 Authorization 中发送。',
    ],
    done: ['I have saved it', '我已保存'],
    removed: ['The access token was removed.', '访问令牌已移除。'],
  },
  service: {
    title: ['Service tokens', '服务令牌'],
    about: [
      'Let machines use /api as you, within scopes and without a sign-in, for example Terraform or a script.',
      '供机器在限定范围内以您的身份使用 /api，无需登录，例如 Terraform 或脚本。',
    ],
    none: ['No service tokens.', '没有服务令牌。'],
    create: ['Create service token', '创建服务令牌'],
    createAbout: [
      'It can never do more than you. It cannot change passwords, second factors, service tokens or administrators. You need a second factor to create it.',
      '它的权限不会超过您，也不能更改密码、双重验证、服务令牌或管理员。创建时需要双重验证。',
    ],
    scopes: ['Scopes', '权限范围'],
    rights: { none: ['None', '无'], read: ['Read', '读取'], write: ['Write', '写入'] },
    groups: {
      keys: ['Keys', '密钥'],
      users: ['Users and invitations', '用户与邀请'],
      departments: ['Departments', '部门'],
      usage: ['Usage and logs', '用量与日志'],
      prompts: ['Stored prompts and answers', '已存储的提示词和回答'],
      payments: ['Orders, codes and subscriptions', '订单、兑换码与订阅'],
      models: ['Models, prices and vendors', '模型、价格与供应商'],
      system: ['System', '系统'],
      audit: ['Audit log', '审计日志'],
      config: ['Configuration', '配置'],
    },
    days: ['Valid for (days)', '有效期（天）'],
    addressesAbout: [
      'Addresses and networks from which it is accepted, one per line. Empty: any.',
      '允许使用它的地址或网段，每行一个。留空表示不限。',
    ],
    anyAddress: ['any', '不限'],
    madeBy: ['Created by', '创建者'],
    lastUsed: ['Last used', '最近使用'],
    states: { valid: ['valid', '有效'], expired: ['expired', '已过期'], revoked: ['revoked', '已撤销'] },
    shownTitle: ['Your service token', '您的服务令牌'],
    shown: [
      'It is shown only once. Send it in the header Authorization: Bearer.',
      '只显示一次。请放在请求头 Authorization: Bearer 中发送。',
    ],
    done: ['I have saved it', '我已保存'],
    revoke: ['Revoke', '撤销'],
    revokeOne: [(name: string) => `Revoke the service token ${name}`, (name: string) => `撤销服务令牌 ${name}`],
    revokeAbout: [
      'Requests with it are refused at once. This cannot be undone.',
      '使用它的请求会立即被拒绝，且无法撤销。',
    ],
    revoked: ['The service token was revoked.', '服务令牌已撤销。'],
  },
  deletion: {
    about: [
      'Deletes your account permanently. Your keys stop working at once, all sessions end, and your remaining balance is lost.',
      '永久删除您的账户。您的密钥立即失效，所有会话结束，剩余余额作废。',
    ],
    root: ['The root account cannot be deleted.', 'root 账户不能删除。'],
    go: ['Delete my account', '删除我的账户'],
    dialog: ['Delete your account?', '删除您的账户？'],
    type: [(name: string) => `Type ${name} to confirm`, (name: string) => `输入 ${name} 以确认`],
    never: ['This cannot be undone.', '此操作无法撤销。'],
  },
});
