/** Passkeys: how they are added, and what they let in. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import type { Account } from '../../../core/contracts/identity.ts';
import type { PasskeyStart } from '../../../core/contracts/second-factors.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import { verdict } from '../../kit/gateway/drive.ts';
import { type Authenticator, authenticator, type Lies } from '../../kit/stand-ins/authenticator.ts';
import { type FactorsHost, factorsHost, SITE } from './with-factors.ts';

const MINUTE_MS = 60_000;
const REFUSED = '403 passkey_refused';

interface Somebody {
  readonly account: Account;
  readonly session: number;
  /** What its cookie holds. */
  readonly secret: string;
  readonly key: Authenticator;
}

/** Somebody who is signed in and has a passkey. */
async function withPasskey(host: FactorsHost, name = 'ann', key = authenticator(SITE.origin)): Promise<Somebody> {
  const account = await host.person(name);
  const { secret, session } = await host.session(account);
  await register(host, account, session.id, key);
  return { account, session: session.id, secret, key };
}

async function register(host: FactorsHost, account: Account, session: number, key: Authenticator, lies: Lies = {}) {
  const { options, ticket } = await host.factors.beginPasskeyRegistration(account, session);
  await host.factors.finishPasskeyRegistration(account, session, ticket, key.create(options, lies));
}

async function login(host: FactorsHost, key: Authenticator, lies: Lies = {}): Promise<Account> {
  const { options, ticket } = await host.factors.beginPasskeyLogin();
  return host.factors.finishPasskeyLogin(ticket, key.get(options, lies));
}

async function check(host: FactorsHost, { account, session, key }: Somebody, lies: Lies = {}): Promise<void> {
  const { options, ticket } = await host.factors.beginPasskeyCheck(account, session);
  await host.factors.finishPasskeyCheck(account, session, ticket, key.get(options, lies));
}

const challengeIn = ({ options }: PasskeyStart): string => String((options as JsonObject).challenge);

/** Everything an answer may lie about, in a page or an authenticator. */
const LIES: Readonly<Record<string, Lies>> = {
  'of another page': { origin: 'https://evil.example' },
  'of the page without https': { origin: 'http://console.example' },
  'of a page below': { origin: 'https://evil.console.example' },
  'of the page at another port': { origin: 'https://console.example:8443' },
  'of a page in a frame of another site': { crossOrigin: true },
  'for another site': { rpId: 'evil.example' },
  'for the site above': { rpId: 'example' },
  'to another challenge': { challenge: Buffer.alloc(32, 1).toString('base64url') },
  'without the person': { verified: false },
};

describe('a passkey', () => {
  it('is registered, signs in without a name, checks, and is removed', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    const made = (await host.factors.status(ann.account.id)).passkey;
    assert.deepEqual(made, { createdMs: host.clock.now(), lastUsedMs: undefined });

    host.clock.advance(MINUTE_MS);
    assert.deepEqual(await login(host, ann.key), ann.account);
    assert.equal((await host.factors.status(ann.account.id)).passkey?.lastUsedMs, host.clock.now());
    await check(host, ann);

    await host.factors.removePasskey(ann.account, ann.session);
    assert.equal((await host.factors.status(ann.account.id)).passkey, undefined);
    assert.equal(await verdict(() => login(host, ann.key)), REFUSED);
    assert.equal(await verdict(() => check(host, ann)), '409 no_passkey');
    assert.equal(await verdict(() => host.factors.removePasskey(ann.account, ann.session)), '409 no_passkey');
  });

  it('is asked for with options that name the site and hide the account', async () => {
    const host = await factorsHost();
    const account = await host.person('ann');
    const { session } = await host.session(account);
    const { options, expiresMs } = await host.factors.beginPasskeyRegistration(account, session.id);
    const made = options as unknown as {
      rp: object;
      user: { id: string; name: string };
      authenticatorSelection: object;
      attestation: string;
      timeout: number;
    };
    assert.deepEqual(made.rp, { name: 'Toll Road', id: 'console.example' });
    assert.equal(made.user.name, 'ann');
    assert.equal(Buffer.from(made.user.id, 'base64url').length, 32, 'the handle is random and not the id');
    assert.deepEqual(made.authenticatorSelection, {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    });
    assert.equal(made.attestation, 'none');
    assert.equal(expiresMs, host.clock.now() + 5 * MINUTE_MS);
    assert.equal(made.timeout, 5 * MINUTE_MS);

    const again = (await host.factors.beginPasskeyRegistration(account, session.id)).options as typeof options;
    assert.equal((again as unknown as typeof made).user.id, made.user.id, 'an account keeps its handle');
  });

  it('is asked for without a hint who could have one [T-PK-04]', async () => {
    const host = await factorsHost();
    const nobodyHasOne = (await host.factors.beginPasskeyLogin()).options as JsonObject;
    await withPasskey(host);
    const somebodyHasOne = (await host.factors.beginPasskeyLogin()).options as JsonObject;
    assert.deepEqual({ ...somebodyHasOne, challenge: '' }, { ...nobodyHasOne, challenge: '' });
    assert.equal('allowCredentials' in JSON.parse(JSON.stringify(somebodyHasOne)), false);
  });

  it('has challenges of 32 random bytes, each good once, for five minutes [T-PK-01]', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    const challenges = await Promise.all(
      Array.from({ length: 20 }, async () => challengeIn(await host.factors.beginPasskeyLogin())),
    );
    assert.equal(new Set(challenges).size, 20);
    for (const challenge of challenges) assert.equal(Buffer.from(challenge, 'base64url').length, 32);

    const { options, ticket } = await host.factors.beginPasskeyLogin();
    const answer = ann.key.get(options);
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, () => verdict(() => host.factors.finishPasskeyLogin(ticket, answer))),
    );
    assert.equal(verdicts.filter((each) => each === 'ok').length, 1, 'the same answer twice');

    const spent = await host.factors.beginPasskeyLogin();
    assert.equal(await verdict(() => host.factors.finishPasskeyLogin(spent.ticket, { id: 'no' })), REFUSED);
    assert.equal(
      await verdict(() => host.factors.finishPasskeyLogin(spent.ticket, ann.key.get(spent.options))),
      REFUSED,
      'a wrong answer spends it, too',
    );

    const late = await host.factors.beginPasskeyLogin();
    host.clock.advance(5 * MINUTE_MS - 1);
    const inTime = ann.key.get(late.options);
    const other = await host.factors.beginPasskeyLogin();
    await host.factors.finishPasskeyLogin(late.ticket, inTime);
    host.clock.advance(5 * MINUTE_MS);
    assert.equal(
      await verdict(() => host.factors.finishPasskeyLogin(other.ticket, ann.key.get(other.options))),
      REFUSED,
    );
  });

  it('has challenges for one ceremony, one account and one session [T-PK-01]', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    const bob = await withPasskey(host, 'bob');
    const elsewhere = (await host.session(ann.account)).session.id;
    const carl = await host.person('carl');
    const carlHere = (await host.session(carl)).session.id;

    // Each ticket, everywhere else, with an answer that is right for its challenge.
    const begin = {
      login: () => host.factors.beginPasskeyLogin(),
      check: () => host.factors.beginPasskeyCheck(ann.account, ann.session),
      register: () => host.factors.beginPasskeyRegistration(carl, carlHere),
    };
    const finish = {
      login: ({ ticket, options }: PasskeyStart) => host.factors.finishPasskeyLogin(ticket, ann.key.get(options)),
      check: ({ ticket, options }: PasskeyStart) =>
        host.factors.finishPasskeyCheck(ann.account, ann.session, ticket, ann.key.get(options)),
      register: ({ ticket, options }: PasskeyStart) =>
        host.factors.finishPasskeyRegistration(carl, carlHere, ticket, authenticator(SITE.origin).create(options)),
      'check in another session': ({ ticket, options }: PasskeyStart) =>
        host.factors.finishPasskeyCheck(ann.account, elsewhere, ticket, ann.key.get(options)),
      'check of another account': ({ ticket, options }: PasskeyStart) =>
        host.factors.finishPasskeyCheck(bob.account, ann.session, ticket, bob.key.get(options)),
      'register in another session': ({ ticket, options }: PasskeyStart) =>
        host.factors.finishPasskeyRegistration(carl, elsewhere, ticket, authenticator(SITE.origin).create(options)),
    };
    const right = ['login login', 'check check', 'register register'];
    const crossed = Object.entries(begin).flatMap(([from, start]) =>
      Object.entries(finish).map(([to, end]) => ({ what: `${from} ${to}`, start, end })),
    );
    for (const { what, start, end } of crossed.filter(({ what }) => !right.includes(what))) {
      const begun = await start();
      // The site is named apart from the ticket, so that only the ticket can be what is wrong.
      const options = { rpId: 'console.example', rp: { id: 'console.example' }, ...(begun.options as JsonObject) };
      assert.equal(await verdict(() => end({ ...begun, options })), REFUSED, what);
    }
    for (const { what, start, end } of crossed.filter(({ what }) => right.includes(what))) {
      assert.equal(await verdict(async () => end(await start())), 'ok', what);
    }
  });

  for (const [what, lies] of Object.entries(LIES)) {
    it(`is refused ${what}: to register, to sign in, to check [T-PK-02] [T-PK-03]`, async () => {
      const host = await factorsHost();
      const ann = await withPasskey(host);
      assert.equal(await verdict(() => login(host, ann.key, lies)), REFUSED);
      assert.equal(await verdict(() => check(host, ann, lies)), REFUSED);
      assert.equal((await host.factors.status(ann.account.id)).passkey?.lastUsedMs, undefined);

      const bob = await host.person('bob');
      const { session } = await host.session(bob);
      const key = authenticator(SITE.origin);
      assert.equal(await verdict(() => register(host, bob, session.id, key, lies)), REFUSED);
      assert.equal((await host.factors.status(bob.id)).passkey, undefined);
      // And without the lie it is taken.
      await register(host, bob, session.id, key);
      assert.equal((await login(host, key)).id, bob.id);
      await check(host, ann);
    });
  }

  it('is refused with a wrong signature, another kind of answer, or another handle', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    const bob = await withPasskey(host, 'bob');
    const { options } = await host.factors.beginPasskeyRegistration(
      await host.person('carl'),
      (await host.session(ann.account)).session.id,
    );
    const handle = (options as unknown as { user: { id: string } }).user.id;
    for (const lies of [
      { badSignature: true },
      { type: 'webauthn.create' },
      { userHandle: handle },
      { userHandle: '' },
      { id: bob.key.get({ challenge: '' }).id as string },
    ] satisfies Lies[]) {
      assert.equal(await verdict(() => login(host, ann.key, lies)), REFUSED, JSON.stringify(lies));
    }
    assert.equal(await verdict(() => check(host, ann, { badSignature: true })), REFUSED);
    assert.equal(await verdict(() => check(host, ann, { userHandle: handle })), REFUSED);
  });

  it('of one account checks nobody else [T-PK-03]', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    const bob = await withPasskey(host, 'bob');
    assert.equal(await verdict(() => check(host, { ...bob, key: ann.key })), REFUSED);
    assert.equal((await login(host, ann.key)).id, ann.account.id);
  });

  it('belongs to one account: its id a second time is refused [T-PK-03]', async () => {
    const host = await factorsHost();
    const id = Buffer.alloc(16, 9).toString('base64url');
    const ann = await withPasskey(host, 'ann', authenticator(SITE.origin, id));
    const bob = await host.person('bob');
    const { session } = await host.session(bob);
    assert.equal(
      await verdict(() => register(host, bob, session.id, authenticator(SITE.origin, id))),
      '409 passkey_taken',
    );
    assert.equal((await host.factors.status(bob.id)).passkey, undefined);
    assert.equal((await login(host, ann.key)).id, ann.account.id);
  });

  it('is the only one of its account, however many are begun', async () => {
    const host = await factorsHost();
    const account = await host.person('ann');
    const { session } = await host.session(account);
    const begun = await Promise.all(
      Array.from({ length: 10 }, () => host.factors.beginPasskeyRegistration(account, session.id)),
    );
    const verdicts = await Promise.all(
      begun.map(({ options, ticket }) =>
        verdict(() =>
          host.factors.finishPasskeyRegistration(
            account,
            session.id,
            ticket,
            authenticator(SITE.origin).create(options),
          ),
        ),
      ),
    );
    assert.equal(verdicts.filter((each) => each === 'ok').length, 1, verdicts.join());
    assert.equal(await verdict(() => host.factors.beginPasskeyRegistration(account, session.id)), '409 passkey_exists');
  });

  it('is refused and noted where its counter goes back or stands still [T-PK-03]', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    await login(host, ann.key, { counter: 10 });
    for (const counter of [10, 9, 0]) {
      assert.equal(await verdict(() => login(host, ann.key, { counter })), REFUSED, `${counter}`);
      assert.equal(await verdict(() => check(host, ann, { counter })), REFUSED, `${counter}`);
    }
    await login(host, ann.key, { counter: 11 });
    assert.deepEqual(await host.actions(), Array(6).fill('passkey.counter'));
    const [last] = await host.use(Audit).page({ limit: 1 });
    assert.deepEqual(last?.facts, { known: 10, told: 0 });
    assert.equal(last?.actor.name, 'ann');
    // Whoever cannot sign cannot have that noted.
    await verdict(() => login(host, ann.key, { counter: 1, badSignature: true }));
    assert.equal((await host.actions()).length, 6);
  });

  it('may have a counter that always says zero, as synchronised ones do', async () => {
    const host = await factorsHost();
    const account = await host.person('ann');
    const { session } = await host.session(account);
    const key = authenticator(SITE.origin);
    await register(host, account, session.id, key, { counter: 0 });
    await login(host, key, { counter: 0 });
    await login(host, key, { counter: 0 });
  });

  it('of a disabled account signs nobody in', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    await host.use(Accounts).change(ann.account.id, { enabled: false });
    assert.equal(await verdict(() => login(host, ann.key)), REFUSED);
    await host.use(Accounts).change(ann.account.id, { enabled: true });
    assert.equal((await login(host, ann.key)).id, ann.account.id);
  });

  it('is refused, and nothing worse, whatever is sent in its place', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    const right = ann.key.get((await host.factors.beginPasskeyLogin()).options);
    const response = right.response as JsonObject;
    const made = authenticator(SITE.origin).create({ challenge: 'x', rp: { id: 'y' }, user: { id: 'z' } });
    const odd: readonly JsonObject[] = [
      {},
      { id: right.id! },
      { ...right, id: 1 },
      { ...right, rawId: 'other' },
      { ...right, type: 'password' },
      { ...right, response: null },
      { ...right, response: [] },
      { ...right, response: {} },
      ...['clientDataJSON', 'authenticatorData', 'signature'].flatMap((name) =>
        [null, 1, '', '%', 'AAAA', {}].map((value) => ({ ...right, response: { ...response, [name]: value } })),
      ),
      ...['bnVsbA', 'W10', 'e30', 'e30='].map((clientDataJSON) => ({
        ...right,
        response: { ...response, clientDataJSON },
      })),
      ...[null, 1, '', 'AAAA', 'oA'].map((attestationObject) => ({
        ...made,
        response: { ...(made.response as JsonObject), attestationObject },
      })),
      { ...right, __proto__: { id: 'x' } } as unknown as JsonObject,
    ];
    for (const credential of odd) {
      const what = JSON.stringify(credential);
      const { ticket } = await host.factors.beginPasskeyLogin();
      assert.equal(await verdict(() => host.factors.finishPasskeyLogin(ticket, credential)), REFUSED, what);
      const checking = await host.factors.beginPasskeyCheck(ann.account, ann.session);
      const end = () => host.factors.finishPasskeyCheck(ann.account, ann.session, checking.ticket, credential);
      assert.equal(await verdict(end), REFUSED, what);
      const bob = await host
        .use(Accounts)
        .findByName('bob')
        .then((found) => found ?? host.person('bob'));
      const begun = await host.factors.beginPasskeyRegistration(bob, 1);
      assert.equal(
        await verdict(() => host.factors.finishPasskeyRegistration(bob, 1, begun.ticket, credential)),
        REFUSED,
        what,
      );
    }
    for (const ticket of ['', 'x', 'x'.repeat(10_000)]) {
      assert.equal(await verdict(() => host.factors.finishPasskeyLogin(ticket, right)), REFUSED);
    }
  });

  for (const [what, change] of Object.entries({
    added: async (
      host: FactorsHost,
      { account, session }: Somebody,
      along: Parameters<FactorsHost['factors']['removePasskey']>[2],
    ) => {
      await host.factors.removePasskey(account, session);
      const { options, ticket } = await host.factors.beginPasskeyRegistration(account, session);
      return () =>
        host.factors.finishPasskeyRegistration(
          account,
          session,
          ticket,
          authenticator(SITE.origin).create(options),
          along,
        );
    },
    removed:
      async (
        host: FactorsHost,
        { account, session }: Somebody,
        along: Parameters<FactorsHost['factors']['removePasskey']>[2],
      ) =>
      () =>
        host.factors.removePasskey(account, session, along),
  })) {
    it(`ends all other sessions, and what was verified, when it is ${what}; its entry stands in the audit`, async () => {
      const host = await factorsHost();
      const ann = await withPasskey(host);
      const sessions = host.use(Sessions);
      const actor = { accountId: ann.account.id, name: 'ann', ip: '' };
      const along = host.use(Audit).steps({ actor, action: `passkey.${what}`, object: '' });
      const run = await change(host, ann, along);
      const other = await host.session(ann.account);
      const { secret } = await sessions.verify(ann.session);
      await run();
      assert.equal((await sessions.find(secret))?.session.verifiedUntilMs, 0);
      assert.equal(await sessions.find(other.secret), undefined);
      assert.deepEqual(await host.actions(), [`passkey.${what}`]);
    });
  }

  it('is taken away by an administrator, with all sessions', async () => {
    const host = await factorsHost();
    const ann = await withPasskey(host);
    await host.factors.reset(ann.account.id, 'passkey');
    assert.equal(await verdict(() => login(host, ann.key)), REFUSED);
    assert.equal(await host.use(Sessions).find(ann.secret), undefined);
  });
});
