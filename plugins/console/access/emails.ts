/** The emails of the console, in the languages of its users. */
import { Accounts } from '../../../core/contracts/accounts.ts';
import { type Letter, type MailLanguage, mailLanguage } from '../../../core/contracts/mail.ts';
import type { Site } from '../../../core/contracts/site.ts';
import type { Host } from '../../../core/plugin.ts';
import type { ConsoleRequest } from '../route.ts';

type Text = Pick<Letter, 'subject' | 'text'>;
type Place = Pick<Site, 'name' | 'origin' | 'root'>;

interface Emails {
  /** `from`: the name of the administrator. */
  invitation(site: Place, of: { readonly from: string; readonly link: string; readonly expiresMs: number }): Text;
  passwordReset(site: Place, of: { readonly account: string; readonly link: string }): Text;
  /** The subject has no code, because it is logged if the email cannot be sent. */
  addressCode(site: Place, code: string): Text;
  addressChanged(site: Place, account: string): Text;
}

/** The language of an email that a request causes: that of its account, otherwise that of the browser. */
export async function languageOf(
  host: Host,
  { visitor, headers }: Pick<ConsoleRequest, 'visitor' | 'headers'>,
): Promise<MailLanguage> {
  const person = visitor && (await host.use(Accounts).person(visitor.id));
  return mailLanguage(person?.settings, headers['accept-language']);
}

/** The emails by language. */
export const EMAILS: Readonly<Record<MailLanguage, Emails>> = {
  en: {
    invitation: ({ name, root }, { from, link, expiresMs }) => ({
      subject: `${name}: ${from} invites you`,
      text: `${from} invites you to ${name}, a gateway to AI models at ${root}.

To create your account, open this link before ${new Date(expiresMs).toUTCString()}:

${link}

The link works once. If you do not expect this invitation, ignore this email.
`,
    }),
    passwordReset: ({ name }, { account, link }) => ({
      subject: `${name}: a new password`,
      text: `Someone, hopefully you, requested a new password for the account "${account}".

To set it, open this link within 15 minutes:

${link}

If it was not you, ignore this email: your password is unchanged.
`,
    }),
    addressCode: ({ name, origin }, code) => ({
      subject: `${name}: a code for your email address`,
      text: `Someone at ${origin}, hopefully you, wants to use this email address.

The code is ${code}. It can be used once, within ten minutes.

If it was not you, ignore this email.
`,
    }),
    addressChanged: ({ name, origin }, account) => ({
      subject: `${name}: the email address of your account was changed`,
      text: `Hello ${account},

the email address of your account at ${origin} was changed.

If you did not change it, contact the operator of ${name}.
`,
    }),
  },
  zh: {
    invitation: ({ name, root }, { from, link, expiresMs }) => ({
      subject: `${name}：${from} 邀请你加入`,
      text: `${from} 邀请你加入 ${name}（AI 模型网关，地址 ${root}）。

请在 ${new Date(expiresMs).toISOString().slice(0, 16).replace('T', ' ')}（UTC）之前打开此链接，创建你的账户：

${link}

此链接只能使用一次。如果你没有预期收到此邀请，请忽略这封邮件。
`,
    }),
    passwordReset: ({ name }, { account, link }) => ({
      subject: `${name}：设置新密码`,
      text: `有人（希望是你本人）申请为账户“${account}”设置新密码。

请在 15 分钟内打开此链接进行设置：

${link}

如果不是你本人操作，请忽略这封邮件：你的密码没有改变。
`,
    }),
    addressCode: ({ name, origin }, code) => ({
      subject: `${name}：邮箱地址的验证码`,
      text: `有人（希望是你本人）想在 ${origin} 使用此邮箱地址。

验证码是 ${code}，十分钟内有效，只能使用一次。

如果不是你本人操作，请忽略这封邮件。
`,
    }),
    addressChanged: ({ name, origin }, account) => ({
      subject: `${name}：你的账户的邮箱地址已更改`,
      text: `${account}，你好：

你在 ${origin} 的账户的邮箱地址已更改。

如果不是你本人更改的，请联系 ${name} 的管理员。
`,
    }),
  },
};
