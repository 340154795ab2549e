/** Notices of low balances: once for each fall, whatever happens around it, and signed where that is wanted. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Accounts, type Person } from '../../../core/contracts/accounts.ts';
import type { Account, Holder } from '../../../core/contracts/identity.ts';
import { type Balance, Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import { type Letter, Mail } from '../../../core/contracts/mail.ts';
import { Site } from '../../../core/contracts/site.ts';
import type { Host, JsonObject } from '../../../core/plugin.ts';
import { createVault } from '../../../core/store/vault.ts';
import notices from '../../../plugins/notices/index.ts';
import { type Driven, drive, exchange, type MemoryStore, memoryStore } from '../../kit/gateway/drive.ts';

const HOUR_MS = 3_600_000;

/** The vault of `drive`. */
const vault = createVault(Buffer.alloc(32, 7));

describe('notices', () => {
  let store: MemoryStore;
  let driven: Driven;
  let settings: JsonObject;
  let email: string | undefined;
  let balance: { granted: bigint; used: bigint; held: bigint; unlimited: boolean };
  let letters: Letter[];
  let posts: Parameters<Host['post']>[];
  let status: () => Promise<number>;
  let reads: number;
  let listeners: ((id: number, isOwn: boolean) => void)[];

  const account: Account = { id: 7, name: 'ann', role: 'member', enabled: true, createdMs: 0 };
  const units = (amount: number): bigint => BigInt(amount) * MICRO;

  async function person(): Promise<Person> {
    reads++;
    return { ...account, email, settings } as Person;
  }

  async function open(): Promise<Driven> {
    const made = await drive([notices], {
      store,
      post: async (...post) => {
        posts.push(post);
        return status();
      },
      services: () => [
        [Accounts, { person, watch: (listener: () => void) => void listeners.push(listener) }],
        [Ledger, { balance: async (): Promise<Balance> => ({ ...balance }) }],
        [Mail, { delivers: true, send: async (letter: Letter) => void letters.push(letter) }],
        [Site, { origin: 'https://console.example', root: 'https://console.example', name: 'The Gateway' }],
      ],
    });
    await made.start();
    return made;
  }
  beforeEach(async () => {
    store = memoryStore();
    settings = { quota_warning_threshold: 100 };
    email = 'ann@example.com';
    balance = { granted: units(1_000), used: 0n, held: 0n, unlimited: false };
    letters = [];
    posts = [];
    status = async () => 200;
    reads = 0;
    listeners = [];
    driven = await open();
  });
  afterEach(() => driven.stop());

  /** Until what a turn of the chore began has come to its end; the next one would wait for it. */
  async function turns(): Promise<void> {
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  async function hourLater(of: Driven = driven): Promise<void> {
    of.clock.advance(HOUR_MS);
    await turns();
  }
  /** What the plugin was last told has changed. */
  let told: { readonly settings?: JsonObject; readonly email?: string | undefined } = {};
  /** A call that was settled, and time for everybody to notice. */
  async function call(leaves: number | undefined = undefined, of: Driven = driven): Promise<void> {
    if (leaves !== undefined) balance.used = balance.granted - units(leaves);
    if (told.settings !== settings || told.email !== email) for (const tell of listeners) tell(account.id, true);
    told = { settings, email };
    await of.parts[0]!.settle!(exchange({ identity: { account } as Holder }));
    for (let turn = 0; turn < 2; turn++) {
      of.clock.advance(3_000);
      await turns();
    }
  }

  it('comes when the balance has fallen below the threshold, once', async () => {
    await call(100);
    assert.equal(letters.length, 0, 'not below yet');
    await call(99);
    const { to, subject, text } = letters[0]!;
    assert.equal(to, 'ann@example.com');
    assert.match(subject, /The Gateway: your quota is running low/);
    assert.match(text, /ann has 99 quota left, which is below the 100/);
    assert.match(text, /https:\/\/console\.example\/console\/topup/);
    for (const left of [98, 50, 0]) await call(left);
    assert.equal(letters.length, 1);
  });

  it('is in the language of the account', async () => {
    settings = { ...settings, language: 'zh' };
    await call(99);
    assert.match(
      `${letters[0]!.subject} ${letters[0]!.text}`,
      /额度即将用完 你的账户 ann 剩余额度 99，低于你设置的 100。\n\n充值：/,
    );
  });

  it('costs an account that wants none one look in a minute, and comes as soon as it wants one', async () => {
    settings = {};
    for (let i = 0; i < 5; i++) await call(50);
    assert.equal(reads, 1);
    await hourLater();
    await call(50);
    assert.equal(reads, 2);
    settings = { quota_warning_threshold: 100 };
    await call(50);
    assert.equal(letters.length, 1);
  });

  it('comes again after the balance was above', async () => {
    await call(99);
    balance.granted += units(500);
    await call();
    await hourLater();
    await call(99);
    assert.equal(letters.length, 2);
  });

  it('comes again where it was topped up and spent before anybody looked', async () => {
    await call(99);
    await hourLater();
    balance.granted += units(500);
    await call(10);
    assert.equal(letters.length, 2);
    // A little more, but never above: nothing new.
    for (let i = 0; i < 5; i++) {
      await hourLater();
      balance.granted += units(30);
      await call(10);
    }
    assert.equal(letters.length, 2);
  });

  it('does not come again where less was added than had been spent since: that was never above', async () => {
    await call(99);
    await call(10);
    balance.granted += units(50);
    await call(5);
    assert.equal(letters.length, 1);
  });

  it('comes once an hour at the most, however often somebody moves the threshold up and down', async () => {
    for (let i = 0; i < 20; i++) {
      settings = { quota_warning_threshold: i % 2 === 0 ? 100 : 1, notification_email: `somebody-${i}@example.com` };
      await call(50);
    }
    assert.equal(letters.length, 1);
    await hourLater();
    settings = { quota_warning_threshold: 100 };
    await call(50);
    await call(50);
    assert.equal(letters.length, 2, 'the last fall was still to be told');
  });

  it('says nothing to whoever set no threshold, has no limit, or has nowhere to be told', async () => {
    for (const threshold of [undefined, null, 0, -5, 'many', Number.POSITIVE_INFINITY]) {
      settings = threshold === undefined ? {} : { quota_warning_threshold: threshold };
      await call(0);
    }
    settings = { quota_warning_threshold: 100 };
    balance.unlimited = true;
    await call(0);
    balance.unlimited = false;
    email = undefined;
    await call(0);
    settings = { quota_warning_threshold: 100, notify_type: 'webhook' };
    await call(0);
    settings = { quota_warning_threshold: 100, notify_type: 'pigeon' };
    await call(0);
    assert.deepEqual([letters.length, posts.length], [0, 0]);
    // Nobody was told, so that is still to come.
    email = 'ann@example.com';
    settings = { quota_warning_threshold: 100 };
    await call(0);
    assert.equal(letters.length, 1);
  });

  it('does not count what running calls only hold', async () => {
    balance.held = units(950);
    await call(500);
    assert.equal(letters.length, 0);
  });

  it('goes to the address for notices where there is one', async () => {
    settings = { quota_warning_threshold: 0.5, notification_email: 'ops@example.com' };
    await call(0);
    assert.equal(letters[0]?.to, 'ops@example.com');
  });

  it('goes to a webhook, signed over exactly what is sent', async () => {
    const secret = vault.seal('account.webhook_secret 7', 'shared secret');
    const webhook_url = 'https://hooks.example/x';
    settings = { quota_warning_threshold: 100, notify_type: 'webhook', webhook_url, webhook_secret: secret };
    await call(42);
    assert.equal(letters.length, 0);
    assert.equal(posts.length, 1);
    const [url, body, headers] = posts[0]!;
    assert.equal(url, webhook_url);
    assert.deepEqual(headers, {
      'content-type': 'application/json',
      'x-webhook-signature': createHmac('sha256', 'shared secret').update(body).digest('hex'),
    });
    const { title, content, ...rest } = JSON.parse(body);
    assert.deepEqual(rest, {
      type: 'quota_exceed',
      values: ['42', '100', 'https://console.example/console/topup'],
      timestamp: Math.floor(driven.clock.now() / 1_000),
    });
    assert.match(`${title} ${content}`, /running low.*42 quota left/);
  });

  it('goes to a webhook unsigned where no secret is set, and not at all where it cannot be read', async () => {
    settings = { quota_warning_threshold: 100, notify_type: 'webhook', webhook_url: 'https://hooks.example/x' };
    await call(42);
    assert.deepEqual(posts[0]![2], { 'content-type': 'application/json' });
    balance.granted += units(1_000);
    await call();
    await hourLater();
    // Sealed for somebody else.
    settings = { ...settings, webhook_secret: vault.seal('account.webhook_secret 8', 'shared secret') };
    await call(42);
    assert.equal(posts.length, 1);
  });

  it('is not repeated where it did not arrive', async () => {
    settings = { quota_warning_threshold: 100, notify_type: 'webhook', webhook_url: 'https://hooks.example/x' };
    status = async () => 500;
    await call(42);
    await call(41);
    status = () => Promise.reject(new Error('it could not be reached at a public address'));
    balance.granted += units(1_000);
    await call();
    await hourLater();
    await call(42);
    await call(41);
    assert.equal(posts.length, 2);
  });

  it('is not repeated by another run: it is written down before it is sent', async () => {
    settings = { quota_warning_threshold: 100, notify_type: 'webhook', webhook_url: 'https://hooks.example/x' };
    let sent: (status: number) => void = () => {};
    status = () =>
      new Promise((resolve) => {
        sent = resolve;
      });
    await call(42);
    assert.equal(posts.length, 1);
    // The process ends while it is under way; the next one finds the row.
    const next = await open();
    await call(41, next);
    assert.equal(posts.length, 1);
    sent(200);
    await next.stop();
  });

  it('is sent by one of two gateways that look at the same moment', async () => {
    const other = await open();
    await Promise.all([call(42), call(42, other)]);
    assert.equal(letters.length, 1);
    await Promise.all([hourLater(), hourLater(other)]);
    balance.granted += units(1_000);
    await Promise.all([call(42), call(42, other)]);
    assert.equal(letters.length, 2);
    await other.stop();
  });

  it('keeps nobody else from being told where one fails', async () => {
    settings = {
      quota_warning_threshold: 100,
      get notify_type(): string {
        throw new Error('broken');
      },
    };
    await call(42);
    settings = { quota_warning_threshold: 100 };
    await call(41);
    assert.equal(letters.length, 1);
  });
});
