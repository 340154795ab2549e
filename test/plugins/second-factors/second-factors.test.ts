/** Codes of an authenticator and backup codes: which are good, how often, and what a wrong one costs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createGuardrails, generateSync } from 'otplib';
import { Audit } from '../../../core/contracts/audit.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import {
  hashOfBackupCode,
  newBackupCodes,
  newTotpSecret,
  stepOfCode,
  totpCard,
} from '../../../plugins/second-factors/codes.ts';
import { verdict } from '../../kit/gateway/drive.ts';
import { type FactorsHost, factorsHost } from './with-factors.ts';

const STEP_MS = 30_000;
const MINUTE_MS = 60_000;

/** Somebody whose authenticator is in force, a step later: the first code is spent. */
async function enrolled(host: FactorsHost, name = 'ann') {
  const account = await host.person(name);
  const { secret, backupCodes } = await host.factors.setUp(account);
  await host.factors.enable(account, host.code(secret), undefined);
  host.clock.advance(STEP_MS);
  return { account, secret, backupCodes };
}

/** A code of six digits that is wrong. */
function wrong(host: FactorsHost, secret: string, i = 0): string {
  const right = [-1, 0, 1].map((steps) => host.code(secret, steps));
  const codes = ['000000', '111111', '222222', '333333'].filter((code) => !right.includes(code));
  return codes[i % codes.length]!;
}

describe('an authenticator of another program', () => {
  it('shows codes that are good here, even if its secret is as short as 80 bits', async () => {
    const host = await factorsHost();
    const rails = createGuardrails({ MIN_SECRET_BYTES: 10 });
    for (const [name, secret] of [
      ['ann', 'JBSWY3DPEHPK3PXP'],
      ['bob', 'jbsw y3dp ehpk 3pxp jbsw y3dp ehpk 3pxp'],
      ['cleo', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGA======'],
    ] as const) {
      const { id } = await host.person(name);
      const { steps, problems } = await host.factors.adoptSteps(id, { totpSecret: secret });
      assert.deepEqual(problems, {});
      assert.equal(await host.store.atomic(steps), undefined);
      assert.deepEqual(await host.factors.status(id), {
        totp: true,
        lockedUntilMs: 0,
        backupCodes: 0,
        passkey: undefined,
      });
      const plain = secret.replace(/[ =]/g, '').toUpperCase();
      const code = generateSync({ secret: plain, epoch: Math.floor(host.clock.now() / 1_000), guardrails: rails });
      await host.factors.check(id, code);
      assert.equal(await verdict(() => host.factors.check(id, code)), '403 wrong_code');
    }
  });

  it('is not taken over if its secret cannot be read, and replaces none', async () => {
    const host = await factorsHost();
    const { account, secret } = await enrolled(host);
    for (const totpSecret of ['', 'JBSW', 'not base32!', '1'.repeat(32), 'A'.repeat(200)]) {
      const { steps, problems } = await host.factors.adoptSteps(account.id, { totpSecret });
      assert.deepEqual([steps, problems], [[], { totp: 'its stored secret cannot be read' }], totpSecret);
    }
    const { steps } = await host.factors.adoptSteps(account.id, { totpSecret: 'JBSWY3DPEHPK3PXP' });
    assert.equal(await host.store.atomic(steps), undefined);
    await host.factors.check(account.id, host.code(secret));
  });
});

describe('the codes of an authenticator', () => {
  it('are those of RFC 6238', () => {
    // The secret of its appendix B, and the last six digits of its first value and of one more.
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    assert.equal(stepOfCode(secret, '287082', 59_000), 1);
    assert.equal(stepOfCode(secret, '081804', 1_111_111_109_000), 37_037_036);
  });

  it('are good one step early and one step late, and no longer', () => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    // 081804 is the code from 1111111080 to 1111111110.
    const at = (seconds: number) => stepOfCode(secret, '081804', seconds * 1_000);
    assert.equal(at(1_111_111_049.999), undefined);
    assert.equal(at(1_111_111_050), 37_037_036);
    assert.equal(at(1_111_111_139.999), 37_037_036);
    assert.equal(at(1_111_111_140), undefined);
  });

  it('are wrong, and nothing worse, whatever is typed', () => {
    const secret = newTotpSecret();
    for (const code of [
      '',
      '12345',
      '1234567',
      'abcdef',
      '１２３４５６',
      '12345\0',
      '-12345',
      '1e4567',
      'x'.repeat(9_999),
    ]) {
      assert.equal(stepOfCode(secret, code, 0), undefined, JSON.stringify(code));
    }
  });

  it('come from a secret of 160 bits, on a card that names the site and the account', async () => {
    const secret = newTotpSecret();
    assert.match(secret, /^[A-Z2-7]{32}$/);
    const { uri, qr } = await totpCard('Toll & Road: "one"', 'ann/é+b', secret);
    const url = new URL(uri);
    assert.equal(`${url.protocol}//${url.host}`, 'otpauth://totp');
    assert.equal(decodeURIComponent(url.pathname), '/Toll & Road: "one":ann/é+b');
    assert.equal(url.searchParams.get('secret'), secret);
    assert.equal(url.searchParams.get('issuer'), 'Toll & Road: "one"');
    assert.match(qr, /^<svg [\s\S]*<\/svg>\s*$/);
  });
});

describe('a backup code', () => {
  it('has 120 random bits in six groups, and no two are the same', () => {
    const codes = Array.from({ length: 20 }, newBackupCodes).flat();
    assert.equal(new Set(codes).size, 200);
    for (const code of codes) assert.match(code, /^([A-Z2-7]{4}-){5}[A-Z2-7]{4}$/);
  });

  it('is nothing that could be stored where it is too short, too long, or has other characters', () => {
    for (const plain of ['', 'A'.repeat(23), 'A'.repeat(25), `${'A'.repeat(23)}1`, `${'A'.repeat(23)}a`]) {
      assert.equal(hashOfBackupCode(plain), undefined, plain);
    }
    assert.equal(hashOfBackupCode('A'.repeat(24))?.length, 32);
  });
});

describe('two-factor sign-in', () => {
  it('begins with a set-up that counts for nothing until its first code', async () => {
    const host = await factorsHost();
    const account = await host.person('ann');
    const { secret, uri, backupCodes } = await host.factors.setUp(account);
    assert.match(uri, /issuer=Toll(%20|\+)Road/);
    assert.equal(backupCodes.length, 10);
    const none = { totp: false, lockedUntilMs: 0, backupCodes: 0, passkey: undefined };
    assert.deepEqual(await host.factors.status(account.id), none);
    assert.equal(await verdict(() => host.factors.check(account.id, host.code(secret))), '409 no_second_factor');
    assert.equal(await verdict(() => host.factors.check(account.id, backupCodes[0]!)), '409 no_second_factor');

    await host.factors.enable(account, host.code(secret), undefined);
    assert.deepEqual(await host.factors.status(account.id), { ...none, totp: true, backupCodes: 10 });
  });

  it('is enabled by a code of the pending secret only; a set-up does not touch what is in force [T-2FA-05]', async () => {
    const host = await factorsHost();
    const account = await host.person('ann');
    assert.equal(await verdict(() => host.factors.enable(account, '123456', undefined)), '409 no_setup');
    const first = await host.factors.setUp(account);
    const second = await host.factors.setUp(account);
    assert.notEqual(first.secret, second.secret);
    assert.equal(
      await verdict(() => host.factors.enable(account, host.code(first.secret), undefined)),
      '403 wrong_code',
      'the first set-up is void',
    );
    assert.equal(
      await verdict(() => host.factors.enable(account, second.backupCodes[0]!, undefined)),
      '403 wrong_code',
    );
    await host.factors.enable(account, host.code(second.secret), undefined);

    // Enabled: another set-up is refused, and neither secret nor backup codes change.
    host.clock.advance(STEP_MS);
    assert.equal(await verdict(() => host.factors.setUp(account)), '409 two_factor_enabled');
    assert.equal(await verdict(() => host.factors.enable(account, '123456', undefined)), '409 two_factor_enabled');
    await host.factors.check(account.id, host.code(second.secret));
    assert.equal(await verdict(() => host.factors.check(account.id, first.backupCodes[0]!)), '403 wrong_code');
    await host.factors.check(account.id, second.backupCodes[0]!);
  });

  it('is enabled once, of many who enable it at the same time', async () => {
    const host = await factorsHost();
    const account = await host.person('ann');
    const { secret } = await host.factors.setUp(account);
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, () => verdict(() => host.factors.enable(account, host.code(secret), undefined))),
    );
    assert.equal(verdicts.filter((each) => each === 'ok').length, 1);
    assert.equal((await host.factors.status(account.id)).backupCodes, 10);
  });

  it('takes no code a second time: not the one it was enabled with, not at once, not elsewhere [T-2FA-03]', async () => {
    const host = await factorsHost();
    const account = await host.person('ann');
    const { secret } = await host.factors.setUp(account);
    const first = host.code(secret);
    await host.factors.enable(account, first, undefined);
    assert.equal(await verdict(() => host.factors.check(account.id, first)), '403 wrong_code', 'it enabled');

    host.clock.advance(STEP_MS);
    const second = host.code(secret);
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, () => verdict(() => host.factors.check(account.id, second))),
    );
    assert.equal(verdicts.filter((each) => each === 'ok').length, 1);
    for (const elsewhere of [
      () => host.factors.check(account.id, second),
      () => host.factors.disable(account, second, undefined),
      () => host.factors.renewBackupCodes(account, second),
      // Of a step before: older than what was taken.
      () => host.factors.check(account.id, first),
    ]) {
      assert.equal(await verdict(elsewhere), '403 wrong_code');
    }
    host.clock.advance(STEP_MS);
    await host.factors.disable(account, host.code(secret), undefined);
  });

  it('takes codes as people type them', async () => {
    const host = await factorsHost();
    const { account, secret, backupCodes } = await enrolled(host);
    const code = host.code(secret);
    await host.factors.check(account.id, ` ${code.slice(0, 3)} ${code.slice(3)}\n`);
    await host.factors.check(account.id, ` ${backupCodes[0]!.toLowerCase().replaceAll('-', ' ')}`);
    await host.factors.check(account.id, backupCodes[1]!.replaceAll('-', ''));
  });

  it('takes each backup code once, and none of those before after they were renewed [T-2FA-04]', async () => {
    const host = await factorsHost();
    const { account, secret, backupCodes } = await enrolled(host);
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, () => verdict(() => host.factors.check(account.id, backupCodes[0]!))),
    );
    assert.equal(verdicts.filter((each) => each === 'ok').length, 1);
    assert.equal((await host.factors.status(account.id)).backupCodes, 9);

    assert.equal(
      await verdict(() => host.factors.renewBackupCodes(account, backupCodes[1]!)),
      '403 wrong_code',
      'a backup code makes no new ones',
    );
    assert.equal((await host.factors.status(account.id)).backupCodes, 9, 'and is not spent by that');
    const renewed = await host.factors.renewBackupCodes(account, host.code(secret));
    assert.equal(new Set([...renewed, ...backupCodes]).size, 20);
    assert.equal(await verdict(() => host.factors.check(account.id, backupCodes[1]!)), '403 wrong_code');
    await host.factors.check(account.id, renewed[9]!);
    assert.equal((await host.factors.status(account.id)).backupCodes, 9);
  });

  it('keeps the codes of two accounts apart', async () => {
    const host = await factorsHost();
    const ann = await enrolled(host, 'ann');
    const bob = await enrolled(host, 'bob');
    assert.equal(await verdict(() => host.factors.check(bob.account.id, ann.backupCodes[0]!)), '403 wrong_code');
    assert.equal(await verdict(() => host.factors.check(bob.account.id, host.code(ann.secret))), '403 wrong_code');
    await host.factors.check(ann.account.id, ann.backupCodes[0]!);
  });

  it('stores no secret and no code as it is', async () => {
    const host = await factorsHost();
    const { account, secret, backupCodes } = await enrolled(host);
    const pending = await host.factors.setUp(await host.person('bob'));
    const tables = host.store.db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as {
      name: string;
    }[];
    const cells = tables
      .flatMap(({ name }) => host.store.db.prepare(`SELECT * FROM ${name}`).all() as Record<string, unknown>[])
      .flatMap((row) => Object.values(row))
      .map((cell) => (cell instanceof Uint8Array ? Buffer.from(cell).toString('latin1') : String(cell)));
    const plain = (code: string): string => code.replaceAll('-', '');
    for (const each of [secret, pending.secret, ...backupCodes, ...pending.backupCodes]) {
      assert.equal(
        cells.some((cell) => cell.includes(each) || cell.includes(plain(each))),
        false,
        each,
      );
    }
    const { secret: sealed } = host.store.db
      .prepare('SELECT secret FROM totp WHERE account_id = ?')
      .get(account.id) as {
      secret: string;
    };
    assert.match(sealed, /^v1\./);
  });
});

describe('wrong codes', () => {
  it('lock after five, for a time that doubles, until a right one is taken [T-2FA-02]', async () => {
    const host = await factorsHost();
    const { account, secret, backupCodes } = await enrolled(host);
    for (const minutes of [5, 10, 20, 40]) {
      for (let i = 0; i < 5; i++) {
        assert.equal(await verdict(() => host.factors.check(account.id, wrong(host, secret, i))), '403 wrong_code');
      }
      const { lockedUntilMs } = await host.factors.status(account.id);
      assert.equal(lockedUntilMs, host.clock.now() + minutes * MINUTE_MS);
      host.clock.advance(minutes * MINUTE_MS - 1);
      assert.equal(await verdict(() => host.factors.check(account.id, host.code(secret))), '429 codes_locked');
      assert.equal(await verdict(() => host.factors.check(account.id, backupCodes[0]!)), '429 codes_locked');
      assert.equal(
        await verdict(() => host.factors.disable(account, host.code(secret), undefined)),
        '429 codes_locked',
      );
      host.clock.advance(1);
      assert.equal((await host.factors.status(account.id)).lockedUntilMs, 0);
    }
    await host.factors.check(account.id, host.code(secret));
    for (let i = 0; i < 5; i++) await verdict(() => host.factors.check(account.id, wrong(host, secret, i)));
    const { lockedUntilMs } = await host.factors.status(account.id);
    assert.equal(lockedUntilMs, host.clock.now() + 5 * MINUTE_MS, 'it begins anew');
  });

  it('say how long it takes, and lock for a day at most', async () => {
    const host = await factorsHost();
    const { account, secret } = await enrolled(host);
    let lockMs = 0;
    for (let locks = 0; locks < 12; locks++) {
      for (let i = 0; i < 5; i++) await verdict(() => host.factors.check(account.id, wrong(host, secret, i)));
      lockMs = (await host.factors.status(account.id)).lockedUntilMs - host.clock.now();
      await assert.rejects(host.factors.check(account.id, host.code(secret)), {
        code: 'codes_locked',
        headers: { 'retry-after': String(lockMs / 1_000) },
      });
      host.clock.advance(lockMs);
    }
    assert.equal(lockMs, 24 * 60 * MINUTE_MS);
  });

  it('are counted exactly: of 1,000 guesses at once, five are looked at [T-2FA-02]', async () => {
    const host = await factorsHost();
    const { account, secret } = await enrolled(host);
    const verdicts = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => verdict(() => host.factors.check(account.id, wrong(host, secret, i)))),
    );
    assert.equal(verdicts.filter((each) => each === '403 wrong_code').length, 5);
    assert.equal(verdicts.filter((each) => each === '429 codes_locked').length, 995);
    assert.equal(
      (await host.factors.status(account.id)).lockedUntilMs,
      host.clock.now() + 5 * MINUTE_MS,
      'it was locked once',
    );
    assert.deepEqual(await host.actions(), ['two-factor.locked'], 'and noted once');
  });

  it('do not lock where fewer than five come before a right one', async () => {
    const host = await factorsHost();
    const { account, secret } = await enrolled(host);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) await verdict(() => host.factors.check(account.id, wrong(host, secret, i)));
      await host.factors.check(account.id, host.code(secret));
      host.clock.advance(STEP_MS);
    }
  });

  it('count what cannot be a code like any other, and stand in the audit where they lock', async () => {
    const host = await factorsHost();
    const { account } = await enrolled(host);
    for (const code of ['', 'abcdef', '1234567', '１２３４５６', 'x'.repeat(1_000)]) {
      assert.equal(await verdict(() => host.factors.check(account.id, code)), '403 wrong_code');
    }
    assert.equal(await verdict(() => host.factors.check(account.id, '')), '429 codes_locked');
    assert.deepEqual(await host.actions(), ['two-factor.locked']);
    const [entry] = await host.use(Audit).page({ limit: 1 });
    assert.deepEqual(entry?.actor, { accountId: account.id, name: 'ann', ip: '' });
    assert.equal(entry?.object, `user ${account.id}`);
  });
});

describe('a change of second factors', () => {
  const changes: readonly {
    readonly what: string;
    readonly before: 'set up' | 'enabled';
    run(host: FactorsHost, who: Awaited<ReturnType<typeof prepared>>): Promise<unknown>;
  }[] = [
    {
      what: 'enabling',
      before: 'set up',
      run: (host, { account, secret, kept, along }) =>
        host.factors.enable(account, host.code(secret), kept.session.id, along),
    },
    {
      what: 'disabling',
      before: 'enabled',
      run: (host, { account, secret, kept, along }) =>
        host.factors.disable(account, host.code(secret), kept.session.id, along),
    },
    {
      what: 'renewing backup codes',
      before: 'enabled',
      run: (host, { account, secret, kept, along }) =>
        host.factors.renewBackupCodes(account, host.code(secret), kept.session.id, along),
    },
  ];

  async function prepared(host: FactorsHost, before: 'set up' | 'enabled') {
    const account = await host.person('ann');
    const { secret } = await host.factors.setUp(account);
    if (before === 'enabled') {
      await host.factors.enable(account, host.code(secret), undefined);
      host.clock.advance(STEP_MS);
    }
    const sessions = host.use(Sessions);
    const kept = await host.session(account);
    const other = await host.session(account);
    const verified = await sessions.verify(kept.session.id);
    const stranger = await host.session(await host.person('bob'));
    const ticket = await host.use(Tickets).issue('password-reset', { accountId: account.id, forMs: MINUTE_MS });
    const actor = { accountId: account.id, name: 'ann', ip: '' };
    const along = host.use(Audit).steps({ actor, action: 'two-factor.changed', object: `user ${account.id}` });
    return { account, secret, kept, keptSecret: verified.secret, other, stranger, ticket, along };
  }

  for (const { what, before, run } of changes) {
    it(`(${what}) ends all other sessions, what was verified and what was begun, and its entry stands in the audit`, async () => {
      const host = await factorsHost();
      const who = await prepared(host, before);
      await run(host, who);
      const sessions = host.use(Sessions);
      assert.equal((await sessions.find(who.keptSecret))?.session.verifiedUntilMs, 0);
      assert.equal(await sessions.find(who.other.secret), undefined);
      assert.notEqual(await sessions.find(who.stranger.secret), undefined, 'somebody else stays');
      assert.equal(await host.use(Tickets).take('password-reset', who.ticket), undefined);
      assert.deepEqual(await host.actions(), ['two-factor.changed']);
    });

    it(`(${what}) changes nothing where its code is wrong, or what goes along with it fails`, async () => {
      const host = await factorsHost();
      const who = await prepared(host, before);
      const status = await host.factors.status(who.account.id);
      const unchanged = async (): Promise<void> => {
        assert.deepEqual(await host.factors.status(who.account.id), status);
        assert.notEqual(await host.use(Sessions).find(who.other.secret), undefined);
        assert.deepEqual(await host.actions(), []);
      };
      const wrongSecret = { ...who, secret: newTotpSecret() };
      assert.equal(await verdict(() => run(host, wrongSecret)), '403 wrong_code');
      await unchanged();
      const failing = [...who.along, { sql: 'DELETE FROM session WHERE id = -1', must: 'never' }];
      assert.equal(await verdict(() => run(host, { ...who, along: failing })), '409 conflict');
      await unchanged();
      // The code was not spent by that.
      await run(host, who);
    });
  }

  it('by an administrator takes everything away, ends all sessions, and is refused where there is nothing', async () => {
    const host = await factorsHost();
    const { account, secret, backupCodes } = await enrolled(host);
    const open = await host.session(account);
    const actor = { accountId: undefined, name: 'root', ip: '' };
    const along = host.use(Audit).steps({ actor, action: 'user.factors', object: `user ${account.id}` });
    await host.factors.reset(account.id, 'totp', along);
    assert.equal((await host.factors.status(account.id)).totp, false);
    assert.equal(await host.use(Sessions).find(open.secret), undefined);
    assert.equal(await verdict(() => host.factors.check(account.id, backupCodes[0]!)), '409 no_second_factor');
    assert.equal(await verdict(() => host.factors.reset(account.id, 'totp', along)), '409 no_second_factor');
    assert.equal(await verdict(() => host.factors.reset(account.id, 'passkey', along)), '409 no_passkey');
    assert.deepEqual(await host.actions(), ['user.factors']);
    // What was enabled once is no secret for the next time.
    const next = await host.factors.setUp(account);
    assert.notEqual(next.secret, secret);
  });
});

describe('second factors on the command line', () => {
  it('are shown, and taken away from whoever has lost them, with their sessions and a line in the audit log', async () => {
    const host = await factorsHost();
    const { account } = await enrolled(host);
    const { secret } = await host.session(account);
    const factors = (remove: boolean, name = 'ann') => host.run('user factors', { remove }, { positionals: [name] });
    assert.equal(await factors(false), 'authenticator (10 backup codes left)');
    assert.equal(await factors(true), 'removed from ann: authenticator (10 backup codes left)');
    assert.equal((await host.factors.status(account.id)).totp, false);
    assert.equal(await host.use(Sessions).find(secret), undefined);
    assert.equal((await host.actions()).at(-1), 'two-factor.reset');
    const [entry] = await host.use(Audit).page({ limit: 1 });
    assert.deepEqual([entry?.actor.name, entry?.object], ['command line', `user ${account.id}`]);
    assert.equal(await factors(false), 'ann has no second factor');
    assert.equal(await verdict(() => factors(true)), '409 no_second_factor');
    assert.equal(await verdict(() => factors(true, 'bob')), '404 account_not_found');
    await host.stop();
  });
});
