/** The targets: email, a signed webhook, and the bots of Slack, Feishu or Lark, DingTalk and WeCom. */
import { createHmac } from 'node:crypto';
import type { AlertTarget } from '../../core/contracts/alerts.ts';
import { Mail } from '../../core/contracts/mail.ts';
import { Site } from '../../core/contracts/site.ts';
import type { Host, JsonObject } from '../../core/plugin.ts';
import type { Message } from './book.ts';
import type { TargetSection } from './section.ts';

/** A target. */
export interface Target extends Pick<AlertTarget, 'name' | 'type'> {
  /** Sends some events as one message. Rejects if the target did not accept it. */
  send(messages: readonly Sent[], signal: AbortSignal): Promise<void>;
}

/** An event as targets get it. */
export type Sent = Pick<Message, 'id' | 'atMs' | 'kind' | 'subject' | 'level' | 'isOver' | 'title' | 'text'>;

const TYPES = ['mail', 'webhook', 'slack', 'feishu', 'dingtalk', 'wecom'] as const;

/** How long a target has for its answer. */
const ANSWER_MS = 10_000;
/** Chat services refuse longer messages: 2,048 bytes at WeCom, which is the least; a character has at most four. */
const LONGEST_TEXT = 500;

/** The configured targets; reports mistakes as problems of gateway.yaml. */
export function targetsOf(host: Host, sections: readonly TargetSection[]): readonly Target[] {
  const names = new Set<string>();
  return sections.flatMap((section, i) => {
    const type = TYPES.find((each) => section[each] !== undefined);
    // The schema requires one.
    if (type === undefined) return [];
    const value = section[type]!;
    const name = section.name ?? type;
    if (names.has(name)) host.problem(['alerts', 'to', i, 'name'], 'must be unique: name the targets of the same type');
    names.add(name);
    if (section.secret !== '') host.log.hide(section.secret);
    if (type === 'mail') return { name, type, send: (messages) => sendMail(host, value, messages) };
    // Its message has the URL, and the URL of a chat service is its password.
    if (!URL.canParse(value)) host.problem(['alerts', 'to', i, type], 'is not a URL');
    host.log.hide(value);
    const { secret } = section;
    return { name, type, send: (messages, signal) => POSTS[type](host, { url: value, secret }, messages, signal) };
  });
}

/** Sends an email to an address. Rejects if there is no mail server. */
export async function sendMail(host: Host, to: string, messages: readonly Sent[]): Promise<void> {
  const mail = host.find(Mail);
  if (mail?.delivers !== true) throw new Error('no mail server is configured (mail.smtp)');
  await mail.send({
    to,
    subject: `${siteName(host)}: ${titleOf(messages)}`,
    text: `${textOf(host, messages)}\n`,
    isQuiet: true,
  });
}

interface Address {
  readonly url: string;
  readonly secret: string;
}
type Post = (host: Host, address: Address, messages: readonly Sent[], signal: AbortSignal) => Promise<void>;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const POSTS: Readonly<Record<Exclude<Target['type'], 'mail'>, Post>> = {
  /** The signature is that of `TIME.BODY` with HMAC-SHA256, as `t=TIME,v1=HEX`, as that of the plugin `events`. */
  async webhook({ clock, fetch }, { url, secret }, messages, signal) {
    const alerts = messages.map(({ id, atMs, kind, subject, level, isOver, title, text }) => {
      return { id, at: new Date(atMs).toISOString(), kind, subject, level, over: isOver, title, text };
    });
    const body = JSON.stringify({ alerts });
    const time = seconds(clock.now());
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    await post(fetch, url, body, signal, secret === '' ? {} : { 'x-turnpike-signature': `t=${time},v1=${signature}` });
  },
  /** Names that users choose could be mentions or links: https://api.slack.com/reference/surfaces/formatting#escaping */
  async slack(host, { url }, messages, signal) {
    const text = chatText(host, messages)
      .replace(/[&<>]/g, (sign) => ENTITIES[sign]!)
      // Mattermost has the same format, and Markdown: `@all`, `[text](link)`, `[text][1]`.
      .replace(/@|\](?=[([:])/g, '$&\u200b');
    await post(host.fetch, url, JSON.stringify({ text }), signal);
  },
  /** Errors have status 200 and a `code`. The signature has the time and the secret as its key, and signs nothing. */
  async feishu(host, { url, secret }, messages, signal) {
    const timestamp = `${seconds(host.clock.now())}`;
    const sign = createHmac('sha256', `${timestamp}\n${secret}`).digest('base64');
    // Its only markup is a mention, `<at user_id="all">`.
    const content = { msg_type: 'text', content: { text: chatText(host, messages).replaceAll('<', '＜') } };
    const body = JSON.stringify(secret === '' ? content : { timestamp, sign, ...content });
    checkCode(await post(host.fetch, url, body, signal), 'code', 'msg');
  },
  /** Errors have status 200 and an `errcode`. The time in milliseconds and the signature are in the query. */
  async dingtalk(host, { url, secret }, messages, signal) {
    const timestamp = `${host.clock.now()}`;
    const signed = new URL(url);
    if (secret !== '') {
      signed.searchParams.set('timestamp', timestamp);
      signed.searchParams.set('sign', createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64'));
    }
    const body = JSON.stringify({ msgtype: 'text', text: { content: chatText(host, messages) } });
    checkCode(await post(host.fetch, signed.href, body, signal), 'errcode', 'errmsg');
  },
  async wecom(host, { url }, messages, signal) {
    const body = JSON.stringify({ msgtype: 'text', text: { content: chatText(host, messages) } });
    checkCode(await post(host.fetch, url, body, signal), 'errcode', 'errmsg');
  },
};

/** Posts JSON and returns the answer; rejects unless its status is a success. */
async function post(
  fetch: Host['fetch'],
  url: string,
  body: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'user-agent': 'turnpike', 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  });
  if (response.ok) return response.text();
  await response.body?.cancel();
  throw new Error(`the server responded with status ${response.status}`);
}

function checkCode(answer: string, codeName: string, messageName: string): void {
  let reply: JsonObject;
  try {
    reply = JSON.parse(answer) as JsonObject;
  } catch {
    throw new Error('the answer is not JSON: this is not the URL of a bot');
  }
  // Services with the same format, and older versions, have no code.
  const code = reply[codeName] ?? 0;
  if (code !== 0)
    throw new Error(`the service responded with ${codeName} ${String(code)}: ${String(reply[messageName])}`);
}

function titleOf(messages: readonly Sent[]): string {
  return messages.length === 1 ? messages[0]!.title : `${messages.length} alerts`;
}

/** All events, oldest first, and where to see them. */
function textOf(host: Host, messages: readonly Sent[]): string {
  const site = host.find(Site);
  const link = site === undefined ? [] : [`${site.root}/console/alerts`];
  return [
    ...messages.map(({ title, text, atMs }) => `${title}\n${text}\n${new Date(atMs).toISOString()}`),
    ...link,
  ].join('\n\n');
}

/** The same, shorter: the texts are left out if they are too long for a chat. */
function chatText(host: Host, messages: readonly Sent[]): string {
  const full = `${siteName(host)}\n${textOf(host, messages)}`;
  if (full.length <= LONGEST_TEXT) return full;
  const titles = [siteName(host), ...messages.map(({ title }) => title)].join('\n');
  return titles.length <= LONGEST_TEXT ? titles : `${titles.slice(0, LONGEST_TEXT)}…`;
}

const siteName = (host: Host): string => host.find(Site)?.name ?? 'Turnpike';
const seconds = (ms: number): number => Math.floor(ms / 1_000);
