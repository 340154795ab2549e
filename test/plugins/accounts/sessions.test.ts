/** Sessions, access tokens and tickets: how long they are good, and for what. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import { Site } from '../../../core/contracts/site.ts';
import accounts from '../../../plugins/accounts/index.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { type Driven, drive, memoryStore, verdict } from '../../kit/gateway/drive.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const HERE = { method: 'password', ip: '192.0.2.1', userAgent: 'a test' };

interface Stage {
  readonly host: Driven;
  readonly sessions: Sessions;
  readonly tickets: Tickets;
  readonly clock: FakeClock;
  /** The accounts `ann` and `bob`. */
  readonly ann: number;
  readonly bob: number;
}

async function start(options: Parameters<typeof drive>[1] = {}): Promise<Stage> {
  const clock = options.clock ?? fakeClock();
  const host = await drive([accounts], { ...options, clock });
  const book = host.use(Accounts);
  const ann = await book.create({ name: 'ann', role: 'member' });
  const bob = await book.create({ name: 'bob', role: 'member' });
  return { host, clock, sessions: host.use(Sessions), tickets: host.use(Tickets), ann: ann.id, bob: bob.id };
}

const texts = ({ host }: Stage): string =>
  ['session', 'access_token', 'ticket']
    .flatMap((name) => host.store.db.prepare(`SELECT * FROM ${name}`).all() as Record<string, unknown>[])
    .flatMap((row) => Object.values(row))
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
    .join('\n');

describe('a session', () => {
  it('is found by its secret, which is nowhere in the store', async () => {
    const stage = await start();
    const { sessions, ann, clock, host } = stage;
    const { secret, session } = await sessions.open({ accountId: ann, ...HERE });
    assert.match(secret, /^[0-9A-Za-z]{43}$/);
    assert.deepEqual(await sessions.find(secret), { session, account: await host.use(Accounts).find(ann) });
    assert.deepEqual(session, {
      id: session.id,
      accountId: ann,
      ...HERE,
      createdMs: clock.now(),
      lastSeenMs: clock.now(),
      expiresMs: clock.now() + 30 * DAY,
      verifiedUntilMs: 0,
      recentUntilMs: clock.now() + 5 * MINUTE,
    });
    assert.equal((await host.use(Accounts).person(ann))?.lastLoginMs, clock.now());
    assert.ok(!texts(stage).includes(secret), 'the store holds the secret of a session');
    for (const wrong of ['', 'null', '{}', secret.slice(1), `${secret} `, secret.toLowerCase()]) {
      assert.equal(await sessions.find(wrong), undefined, wrong);
    }
  });

  it('ends when it is not used for a day, and after thirty days however much it is used [T-SES-05]', async () => {
    const { sessions, ann, clock } = await start();
    const idle = await sessions.open({ accountId: ann, ...HERE });
    const used = await sessions.open({ accountId: ann, ...HERE });
    clock.advance(DAY - 1);
    assert.ok(await sessions.find(used.secret), 'it was used within a day');
    clock.advance(1);
    assert.equal(await sessions.find(idle.secret), undefined);
    for (let hours = 24; hours < 30 * 24 - 12; hours += 12) {
      assert.ok(await sessions.find(used.secret), `gone after ${hours} hours`);
      clock.advance(12 * HOUR);
    }
    clock.advance(12 * HOUR - 1);
    assert.ok(await sessions.find(used.secret), 'a millisecond is left');
    clock.advance(1);
    assert.equal(await sessions.find(used.secret), undefined);
    assert.deepEqual(await sessions.list(ann), []);
  });

  it('lasts as long as the console says', async () => {
    const terms = { idleMs: HOUR, longestMs: DAY };
    const { sessions, ann, clock } = await start({ services: () => [[Site, { session: terms }]] });
    const { secret, session } = await sessions.open({ accountId: ann, ...HERE });
    assert.equal(session.expiresMs, clock.now() + DAY);
    clock.advance(HOUR);
    assert.equal(await sessions.find(secret), undefined);
  });

  it('lasts no longer when the clock is set back [T-SES-05]', async () => {
    const clock = fakeClock();
    let back = 0;
    const moved: FakeClock = { ...clock, now: () => clock.now() - back };
    const { sessions, tickets, ann } = await start({ clock: moved });
    const { secret } = await sessions.open({ accountId: ann, ...HERE });
    const ticket = await tickets.issue('sign-in', { forMs: 5 * MINUTE });
    clock.advance(4 * MINUTE);
    back = HOUR;
    assert.ok(await sessions.find(secret), 'it was found before');
    clock.advance(MINUTE);
    assert.equal(await tickets.take('sign-in', ticket), undefined);
    clock.advance(DAY - MINUTE);
    assert.equal(await sessions.find(secret), undefined);
  });

  it('is not good for ever because the clock was wrong when it began', async () => {
    const store = memoryStore();
    const ahead = await start({ store, clock: fakeClock(Date.UTC(2099, 0, 1)) });
    const { secret } = await ahead.sessions.open({ accountId: ahead.ann, ...HERE });
    const host = await drive([accounts], { store, clock: fakeClock() });
    assert.equal(await host.use(Sessions).find(secret), undefined);
  });

  it('is written to once a minute at most, however often it is used', async () => {
    const { sessions, ann, clock, host } = await start();
    const { secret, session } = await sessions.open({ accountId: ann, ...HERE });
    const changes = (): number => (host.store.db.prepare('SELECT total_changes() AS n').get() as { n: number }).n;
    const before = changes();
    for (let i = 0; i < 59; i++) {
      clock.advance(1_000);
      await sessions.find(secret);
    }
    assert.equal(changes(), before);
    clock.advance(1_000);
    await Promise.all([sessions.find(secret), sessions.find(secret), sessions.find(secret)]);
    assert.equal(changes(), before + 1);
    assert.equal((await sessions.list(ann))[0]?.lastSeenMs, session.createdMs + MINUTE);
  });

  it('is one of ten of its account: the oldest ends', async () => {
    const { sessions, ann, bob, clock } = await start();
    const others = await sessions.open({ accountId: bob, ...HERE });
    const secrets: string[] = [];
    for (let i = 0; i < 12; i++) {
      clock.advance(1);
      secrets.push((await sessions.open({ accountId: ann, ...HERE })).secret);
    }
    const found = await Promise.all(secrets.map(async (secret) => (await sessions.find(secret)) !== undefined));
    assert.deepEqual(found, [false, false, ...Array(10).fill(true)]);
    assert.ok(await sessions.find(others.secret), 'sessions of others are not counted');
    assert.equal((await sessions.list(ann)).length, 10);
  });

  it('ends alone, or with all others of its account; nobody ends those of somebody else', async () => {
    const { sessions, ann, bob, host } = await start();
    const [one, two, three] = [
      await sessions.open({ accountId: ann, ...HERE }),
      await sessions.open({ accountId: ann, ...HERE }),
      await sessions.open({ accountId: ann, ...HERE }),
    ];
    const his = await sessions.open({ accountId: bob, ...HERE });
    assert.equal(await sessions.end(ann, his.session.id), false);
    assert.equal(await sessions.end(ann, one.session.id), true);
    assert.equal(await sessions.end(ann, one.session.id), false);
    assert.equal(await sessions.find(one.secret), undefined);
    await host.store.atomic(sessions.endSteps(ann, two.session.id));
    assert.equal(await sessions.find(three.secret), undefined);
    assert.ok(await sessions.find(two.secret), 'the one excepted stays');
    await host.store.atomic(sessions.endSteps(ann));
    assert.equal(await sessions.find(two.secret), undefined);
    assert.ok(await sessions.find(his.secret), 'those of others stay');
  });

  it('ends when its account is disabled or gets another role, and is not opened for who is disabled [T-SES-02] [T-SES-04]', async () => {
    const { sessions, ann, bob, host } = await start();
    const book = host.use(Accounts);
    const hers = await sessions.open({ accountId: ann, ...HERE });
    const his = await sessions.open({ accountId: bob, ...HERE });
    await book.change(ann, { enabled: false });
    await book.change(bob, { role: 'admin' });
    assert.equal(await sessions.find(hers.secret), undefined);
    assert.equal(await sessions.find(his.secret), undefined);
    assert.equal(await verdict(() => sessions.open({ accountId: ann, ...HERE })), '403 account_disabled');
    await book.change(ann, { enabled: true });
    assert.equal(await sessions.find(hers.secret), undefined);
  });

  it('is verified for five minutes, by a new secret', async () => {
    const { sessions, ann, clock } = await start();
    const { secret, session } = await sessions.open({ accountId: ann, ...HERE });
    const verified = await sessions.verify(session.id);
    assert.equal(verified.untilMs, clock.now() + 5 * MINUTE);
    assert.equal(await sessions.find(secret), undefined);
    assert.equal((await sessions.find(verified.secret))?.session.verifiedUntilMs, verified.untilMs);
    await sessions.end(ann, session.id);
    assert.equal(await verdict(() => sessions.verify(session.id)), '401 not_signed_in');
  });

  it('is verified no longer when the clock is set back, or was wrong when it was [T-VER-01]', async () => {
    const clock = fakeClock();
    let back = 0;
    const store = memoryStore();
    const { sessions, ann } = await start({ store, clock: { ...clock, now: () => clock.now() - back } });
    const { session } = await sessions.open({ accountId: ann, ...HERE });
    const { secret } = await sessions.verify(session.id);
    const isVerified = async (book: Sessions): Promise<boolean> =>
      ((await book.find(secret))?.session.verifiedUntilMs ?? 0) > 0;
    back = HOUR;
    clock.advance(5 * MINUTE);
    assert.equal(await isVerified(sessions), true, '5:00.000');
    clock.advance(1);
    assert.equal(await isVerified(sessions), false, '5:00.001');
    // A process that begins now knows nothing of the clock before.
    const later = await drive([accounts], { store, clock: fakeClock(clock.now() - back) });
    assert.equal(await isVerified(later.use(Sessions)), false, 'more than five minutes ahead');
  });

  it('opens together with what is written along', async () => {
    const { sessions, ann, host } = await start();
    const step = { sql: 'UPDATE account SET remark = ? WHERE id = ?', params: ['seen', ann] };
    await sessions.open({ accountId: ann, ...HERE }, [step]);
    assert.equal((await host.use(Accounts).person(ann))?.remark, 'seen');
  });
});

describe('an access token', () => {
  it('is one for each account, made anew, nowhere in the store, and no good while the account is disabled', async () => {
    const stage = await start();
    const { sessions, ann, bob, host } = stage;
    const first = await sessions.renewAccessToken(ann);
    const his = await sessions.renewAccessToken(bob);
    assert.match(first, /^[0-9A-Za-z]{43}$/);
    assert.equal((await sessions.findByAccessToken(first))?.account.id, ann);
    const second = await sessions.renewAccessToken(ann);
    assert.equal(await sessions.findByAccessToken(first), undefined);
    assert.deepEqual((await sessions.findByAccessToken(second))?.account, await host.use(Accounts).find(ann));
    assert.equal((await sessions.findByAccessToken(his))?.account.id, bob);
    assert.ok(!texts(stage).includes(second), 'the store holds an access token');
    const { secret } = await sessions.open({ accountId: ann, ...HERE });
    assert.equal(await sessions.findByAccessToken(secret), undefined);
    assert.equal(await sessions.find(second), undefined);
    await host.use(Accounts).change(ann, { enabled: false });
    assert.equal(await sessions.findByAccessToken(second), undefined);
  });
});

describe('a ticket', () => {
  it('is good once, for what it was issued for, and until it expires', async () => {
    const stage = await start();
    const { tickets, ann, clock } = stage;
    const data = { method: 'password' };
    const secret = await tickets.issue('sign-in', { accountId: ann, data, forMs: MINUTE });
    assert.match(secret, /^[0-9A-Za-z]{43}$/);
    assert.ok(!texts(stage).includes(secret) && !texts(stage).includes('password'), 'the store can be read');
    for (const purpose of ['password-reset', 'email-proof', 'oauth', 'invitation'] as const) {
      assert.equal(await tickets.take(purpose, secret), undefined, purpose);
      assert.equal(await tickets.look(purpose, secret), undefined, purpose);
    }
    const ticket = { accountId: ann, data, expiresMs: clock.now() + MINUTE };
    assert.deepEqual(await tickets.take('sign-in', secret), ticket);
    assert.equal(await tickets.take('sign-in', secret), undefined);
    const late = await tickets.issue('sign-in', { forMs: MINUTE });
    clock.advance(MINUTE);
    assert.equal(await tickets.look('sign-in', late), undefined);
    assert.equal(await tickets.take('sign-in', late), undefined);
  });

  it('goes to one of fifty who take it at the same moment', async () => {
    const { tickets } = await start();
    const secret = await tickets.issue('oauth', { data: { nonce: 'n' }, forMs: MINUTE });
    const taken = await Promise.all(Array.from({ length: 50 }, () => tickets.take('oauth', secret)));
    assert.deepEqual(
      taken.filter((ticket) => ticket !== undefined).map(({ data }) => data),
      [{ nonce: 'n' }],
    );
  });

  it('is taken together with something else, or not at all', async () => {
    const { tickets, ann, host } = await start();
    const secret = await tickets.issue('invitation', { forMs: MINUTE });
    const take = () => host.store.atomic(tickets.takeSteps('invitation', secret));
    const outcomes = await Promise.all([take(), take()]);
    assert.deepEqual(outcomes.sort(), ['ticket_used', undefined]);
    assert.equal(await host.store.atomic(tickets.takeSteps('oauth', secret)), 'ticket_used');
    assert.ok(ann > 0, 'accounts are not touched');
  });

  it('may be looked at five times, or as often as is said, whoever looks at the same moment [T-2FA-02]', async () => {
    const { tickets } = await start();
    const seen = async (most?: number): Promise<number> => {
      const secret = await tickets.issue('sign-in', { forMs: MINUTE });
      const looks = await Promise.all(Array.from({ length: 1_000 }, () => tickets.look('sign-in', secret, most)));
      return looks.filter((ticket) => ticket !== undefined).length;
    };
    assert.equal(await seen(), 5);
    assert.equal(await seen(2), 2);
  });

  it('may have a secret that people type; issued again, its tries go on', async () => {
    const { tickets } = await start();
    const secret = 'ann@example.com:123456';
    const issue = (data: { readonly n: number }) => tickets.issue('email-proof', { secret, data, forMs: MINUTE });
    assert.equal(await issue({ n: 1 }), secret);
    for (let i = 0; i < 5; i++) await tickets.look('email-proof', secret);
    await issue({ n: 2 });
    assert.equal(await tickets.look('email-proof', secret), undefined);
    assert.deepEqual((await tickets.take('email-proof', secret))?.data, { n: 2 });
  });

  it('is void with all others of its account, and with no other', async () => {
    const { tickets, ann, bob, host } = await start();
    const [hers, his] = [
      await tickets.issue('sign-in', { accountId: ann, forMs: MINUTE }),
      await tickets.issue('sign-in', { accountId: bob, forMs: MINUTE }),
    ];
    await host.store.atomic(tickets.voidSteps(ann));
    assert.equal(await tickets.take('sign-in', hers), undefined);
    assert.equal((await tickets.take('sign-in', his))?.accountId, bob);
  });
});

describe('what has expired', () => {
  it('is deleted within the hour', async () => {
    const { host, sessions, tickets, ann, clock } = await start({ env: { TURNPIKE_ROOT_PASSWORD: 'a root password' } });
    await host.start();
    await sessions.open({ accountId: ann, ...HERE });
    await tickets.issue('oauth', { forMs: 2 * DAY });
    await tickets.issue('oauth', { forMs: MINUTE });
    const count = (name: string): number =>
      (host.store.db.prepare(`SELECT COUNT(*) AS n FROM ${name}`).get() as { n: number }).n;
    clock.advance(HOUR);
    await host.stop();
    assert.deepEqual([count('session'), count('ticket')], [1, 1]);
    clock.advance(DAY - 2 * HOUR);
    await host.start();
    clock.advance(HOUR);
    await host.stop();
    assert.deepEqual([count('session'), count('ticket')], [0, 1]);
  });
});
