/** Texts of the sign-in page. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const useText = texts({
  signIn: ['Sign in', '登录'],
  name: ['Name or email address', '用户名或邮箱'],
  forgotLink: ['Forgot password?', '忘记密码？'],
  newHere: ['New here?', '还没有账户？'],
  haveAccount: ['Have an account?', '已有账户？'],
  backToSignIn: ['Sign in', '登录'],
  or: ['or', '或'],
  withPasskey: ['Sign in with a passkey', '使用通行密钥登录'],
  withProvider: [(label: string) => `Continue with ${label}`, (label: string) => `使用 ${label} 登录`],
  passkeyInsecure: [
    'Passkeys require https (or localhost), but this page uses plain http.',
    '通行密钥需要 https（或 localhost），而此页面使用 http。',
  ],
  passkeyElsewhere: [
    'Passkeys of this gateway only work at another address. Open the console there:',
    '此网关的通行密钥只能在另一个地址使用。请在该地址打开控制台：',
  ],
  onlyHttps: [
    'You cannot sign in at this address: this gateway accepts sign-ins over https only. Open the console there:',
    '无法在此地址登录：此网关只允许通过 https 登录。请在以下地址打开控制台：',
  ],
  failed: ['Sign-in failed. Try again, or use another method.', '登录失败。请重试，或换一种方式登录。'],
  done: {
    registered: ['Account created. Sign in to continue.', '账户已创建，请登录。'],
    reset: [
      'Your password was changed and all sessions ended. Sign in with the new password.',
      '密码已修改，所有会话均已结束。请用新密码登录。',
    ],
  },
  firstStart: {
    title: ['First time here?', '第一次使用？'],
    about: [
      'At its first start, the gateway printed the password of “root” in the terminal. If you lost it, run this in the directory of gateway.yaml to set a new one:',
      '网关首次启动时，在终端中显示了“root”的密码。如已丢失，请在 gateway.yaml 所在目录运行以下命令设置新密码：',
    ],
  },
  second: {
    title: ['Two-factor authentication', '双重验证'],
    about: ['Password accepted. Enter a code to confirm it’s you.', '密码正确。请输入验证码以确认是您本人。'],
    aboutElsewhere: ['Enter a code to confirm it’s you.', '请输入验证码以确认是您本人。'],
    restart: ['Start again', '重新开始'],
    until: [(clock: string) => `Valid until ${clock}.`, (clock: string) => `${clock} 前有效。`],
  },
  register: {
    username: ['Name', '用户名'],
    usernameAbout: ['Your sign-in name.', '用于登录。'],
    emailAbout: ['For password resets.', '用于找回密码。'],
    invitation: ['Invitation', '邀请码'],
    invitationAbout: ['From an administrator; valid for one account.', '由管理员提供，可用于创建一个账户。'],
    go: ['Create account', '创建账户'],
    invited: [
      (by: string, email: string) => `${by} invites you. Your account gets the address ${email}.`,
      (by: string, email: string) => `${by} 邀请您创建账户。账户将使用邮箱 ${email}。`,
    ],
    invitedAdmin: [
      (by: string, email: string) => `${by} invites you as an administrator. Your account gets the address ${email}.`,
      (by: string, email: string) => `${by} 邀请您成为管理员。账户将使用邮箱 ${email}。`,
    ],
    sameAddress: [
      (email: string) => `The account there must have the verified address ${email}.`,
      (email: string) => `该处的账户必须拥有已验证的邮箱 ${email}。`,
    ],
    invalid: ['This invitation is not valid', '邀请无效'],
    invalidAbout: [
      'The invitation of this link was used, revoked or has expired. Ask an administrator for a new one.',
      '此链接的邀请已使用、已撤销或已过期。请向管理员索取新的邀请。',
    ],
    closed: ['Registration is closed', '注册已关闭'],
    closedAbout: [
      'Administrators create the accounts. Ask one of them, then sign in.',
      '账户由管理员创建。请联系管理员，然后登录。',
    ],
  },
  forgot: {
    title: ['Reset password', '重置密码'],
    email: ['Email address of your account', '账户的邮箱'],
    go: ['Send link', '发送链接'],
    sent: ['Check your email', '请查收邮件'],
    sentAbout: [
      (email: string) =>
        `If an account has the address ${email}, an email with a link is on its way. The link is valid for 15 minutes.`,
      (email: string) => `如果有账户使用邮箱 ${email}，含链接的邮件已发送。链接 15 分钟内有效。`,
    ],
    logged: [
      'This gateway sends no email: the link is in its log. Ask an administrator.',
      '此网关不发送邮件：链接在其日志中。请联系管理员。',
    ],
    again: ['Use another address', '使用其他邮箱'],
    none: ['This gateway sends no email', '此网关不发送邮件'],
    noneAbout: ['Ask an administrator for a new password.', '请联系管理员为您设置新密码。'],
  },
  reset: {
    title: ['Set a new password', '设置新密码'],
    about: [
      (email: string) => `For the account with the address ${email}. All its sessions end.`,
      (email: string) => `用于邮箱为 ${email} 的账户。该账户的所有会话都会结束。`,
    ],
    broken: ['Incomplete link', '链接不完整'],
    brokenAbout: [
      'Open the link exactly as it is in the email, or request a new one.',
      '请按邮件中的原样打开链接，或申请新链接。',
    ],
    another: ['Request a new link', '申请新链接'],
  },
});
