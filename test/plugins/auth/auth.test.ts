/** The plugin `auth`: where a key may stand, which one is good, and its guards. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Keys } from '../../../core/contracts/keys.ts';
import type { Caller } from '../../../core/plugin.ts';
import { GatewayError } from '../../../core/plugin.ts';
import accounts from '../../../plugins/accounts/index.ts';
import auth from '../../../plugins/auth/index.ts';
import keys from '../../../plugins/keys/index.ts';
import { newSecret } from '../../../plugins/keys/secret.ts';
import { caller, exchange, verdict } from '../../kit/gateway/drive.ts';
import { driveWithLedger } from '../with-ledger.ts';

const sections = { auth: { headers: ['authorization', 'x-api-key', 'x-goog-api-key'], query: 'key' } };

/** The three plugins as a call meets them, and one key of every state. */
async function door() {
  const host = await driveWithLedger([accounts, keys, auth], { sections });
  const { db } = host.store;
  db.exec(
    `INSERT INTO account (id, name, folded, role, enabled, created_ms) VALUES (1, 'root', 'root', 'root', 1, 0), (2, 'gone', 'gone', 'member', 0, 0)`,
  );
  const book = host.use(Keys);
  const make = async (more: object) => await book.create({ accountId: 1, name: 'k', allowance: undefined, ...more });
  const disabled = await make({});
  db.prepare('UPDATE api_key SET enabled = 0 WHERE id = ?').run(disabled.key.id);
  const revoked = await make({});
  await book.revoke(revoked.key.id);
  const secrets = {
    valid: (await make({})).secret,
    unknown: newSecret(),
    revoked: revoked.secret,
    disabled: disabled.secret,
    expired: (await make({ expiresMs: host.clock.now() })).secret,
    'of a disabled account': (await make({ accountId: 2 })).secret,
    'for another address': (await make({ addresses: ['10.0.0.0/8'] })).secret,
    'for another model': (await make({ models: ['other'] })).secret,
  };
  const [, keysPart, authPart] = host.parts;
  const authenticate = async (request: Caller) => authPart!.authenticate!(exchange(request));
  /** Everything between a request and its model: who is it, and may it? */
  const enter = (request: Caller): Promise<string> =>
    verdict(async () => {
      const identity = (await authenticate(request))!;
      const x = exchange({ ...request, identity, call: { model: 'asked' } as never });
      await keysPart!.enter!(x);
      await keysPart!.admit!(x);
    });
  const guard = async (request: Caller) =>
    authPart!.guards!.key!(request, {}, async () => (await authenticate(request))!);
  return { host, secrets, authenticate, enter, guard };
}

/** Every place a key may stand, on a path where all of them are read. */
const carriers: Readonly<Record<string, (secret: string) => Caller>> = {
  authorization: (secret) => list({ headers: { authorization: `Bearer ${secret}` } }),
  'x-api-key': (secret) => list({ headers: { 'x-api-key': secret } }),
  'x-goog-api-key': (secret) => list({ headers: { 'x-goog-api-key': secret } }),
  query: (secret) => list({ query: `key=${secret}` }),
  'the protocols of a websocket': (secret) =>
    list({ headers: webSocket(`realtime, openai-insecure-api-key.${secret}`) }),
};
const webSocket = (protocols: string) => ({ upgrade: 'websocket', 'sec-websocket-protocol': protocols });
const list = (facts: Parameters<typeof caller>[0]): Caller => caller({ method: 'GET', path: '/v1/models', ...facts });

describe('a key', () => {
  const expected = {
    valid: 'ok',
    unknown: '401 invalid_api_key',
    revoked: '401 invalid_api_key',
    disabled: '401 key_disabled',
    expired: '401 key_expired',
    'of a disabled account': '403 account_disabled',
    'for another address': '403 ip_not_allowed',
    'for another model': '403 model_not_allowed',
  } as const;

  for (const [state, wanted] of Object.entries(expected) as [keyof typeof expected, string][]) {
    it(`${state} meets the same verdict in whichever place it stands`, async () => {
      const { secrets, enter } = await door();
      for (const [place, carry] of Object.entries(carriers)) {
        assert.equal(await enter(carry(secrets[state])), wanted, place);
        // Once more, from memory.
        assert.equal(await enter(carry(secrets[state])), wanted, place);
      }
    });
  }

  it('sent in several places is one key; two different ones are refused, in every pair of places', async () => {
    const { host, secrets, enter } = await door();
    const other = (await host.use(Keys).create({ accountId: 1, name: 'other', allowance: undefined })).secret;
    let pairs = 0;
    for (const [first, carryFirst] of Object.entries(carriers)) {
      for (const [second, carrySecond] of Object.entries(carriers)) {
        if (first === second) continue;
        pairs++;
        const both = (a: Caller, b: Caller): Caller => ({
          ...a,
          headers: { ...a.headers, ...b.headers },
          query: new URLSearchParams(`${a.query}&${b.query}`),
        });
        assert.equal(await enter(both(carryFirst(secrets.valid), carrySecond(secrets.valid))), 'ok');
        const differing = both(carryFirst(secrets.valid), carrySecond(other));
        assert.equal(await enter(differing), '401 invalid_api_key', `${first}, ${second}`);
      }
    }
    assert.equal(pairs, 20);
    assert.equal(await enter(list({ query: `key=${secrets.valid}&key=${other}` })), '401 invalid_api_key');
  });

  it('in the query is read where models are listed and nowhere else', async () => {
    const { secrets, enter } = await door();
    const query = `key=${secrets.valid}`;
    for (const path of ['/v1/models', '/v1/models/', '/v1/models/gpt-4o', '/v1beta/models', '/v1beta/models/gpt-4o']) {
      assert.equal(await enter(caller({ method: 'GET', path, query })), 'ok', path);
    }
    for (const path of ['/v1/chat/completions', '/v1/modelsx', '/v1/responses/models', '/v1']) {
      assert.equal(await enter(caller({ method: 'GET', path, query })), '401 invalid_api_key', path);
    }
    assert.equal(await enter(caller({ method: 'POST', path: '/v1/models', query })), '401 invalid_api_key');
    // Not read is not contradicting either.
    const headers = { 'x-api-key': secrets.valid };
    assert.equal(await enter(caller({ query: `key=${secrets.unknown}`, headers })), 'ok');
  });

  it('is read among the protocols of a websocket and of nothing else', async () => {
    const { host, secrets, enter } = await door();
    const other = (await host.use(Keys).create({ accountId: 1, name: 'other', allowance: undefined })).secret;
    const protocol = `openai-insecure-api-key.${secrets.valid}`;
    const ask = (headers: Record<string, string>, method = 'GET') =>
      enter(caller({ method, path: '/v1/realtime', headers }));
    assert.equal(await ask(webSocket(`realtime,${protocol},openai-beta.realtime-v1`)), 'ok');
    assert.equal(await ask({ ...webSocket(protocol), upgrade: 'WebSocket' }), 'ok');
    assert.equal(await ask(webSocket(`${protocol}, openai-insecure-api-key.${other}`)), '401 invalid_api_key');
    assert.equal(await ask(webSocket('realtime, openai-insecure-api-key.')), '401 invalid_api_key');
    assert.equal(await ask({ 'sec-websocket-protocol': protocol }), '401 invalid_api_key');
    assert.equal(await ask(webSocket(protocol), 'POST'), '401 invalid_api_key');
  });

  it('follows the word Bearer, in whatever case, after exactly one space, or stands alone', async () => {
    const { secrets, enter } = await door();
    const { valid } = secrets;
    const as = (authorization: string) => enter(caller({ headers: { authorization } }));
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) assert.equal(await as(`${scheme} ${valid}`), 'ok', scheme);
    assert.equal(await as(valid), 'ok', 'as some tools send it');
    const malformed = [
      '',
      'Bearer',
      'Bearer ',
      `${valid} `,
      `${valid},${valid}`,
      valid.slice(1),
      `bearer  ${valid}`,
      `Bearer\t${valid}`,
      ` Bearer ${valid}`,
      `Bearer ${valid} `,
      `Bearer ${valid}, Bearer ${valid}`,
      `Bearer ${valid},${valid}`,
      `Bearer ${valid} ${valid}`,
      `Basic ${valid}`,
      `Basic ${Buffer.from(`x:${valid}`).toString('base64')}`,
      `Token ${valid}`,
      `Bearer "${valid}"`,
      `Bearer ${valid}\u0000`,
      'Bearer ключ',
      `Bearer ${'x'.repeat(10_000)}`,
      "Bearer ' OR 1=1--",
      'Bearer null',
    ];
    for (const text of malformed) assert.equal(await as(text), '401 invalid_api_key', text.slice(0, 60));
    for (const text of ['', ' ', `${valid}, ${valid}`, ` ${valid}`, `Bearer ${valid}`]) {
      assert.equal(await enter(caller({ headers: { 'x-api-key': text } })), '401 invalid_api_key', text);
    }
    // A good key elsewhere does not make up for a malformed one.
    assert.equal(
      await enter(caller({ headers: { authorization: 'Basic eDp5', 'x-api-key': valid } })),
      '401 invalid_api_key',
    );
  });

  it('is never repeated in a refusal, which says how to send one', async () => {
    const { secrets, enter, authenticate } = await door();
    for (const [state, secret] of Object.entries(secrets)) {
      if ((await enter(carriers['x-api-key']!(secret))) === 'ok') continue;
      const error = await authenticate(carriers['x-api-key']!(secret)).catch((e: unknown) => e);
      if (!(error instanceof GatewayError)) continue;
      assert.ok(!JSON.stringify([error.message, error.headers, error.param]).includes(secret.slice(3, 9)), state);
      assert.equal(error.headers['x-should-retry'], 'false', state);
      if (error.status === 401) assert.equal(error.headers['www-authenticate'], 'Bearer');
    }
    await assert.rejects(authenticate(caller()), /No API key: send `Authorization: Bearer sk-…`/);
    await assert.rejects(authenticate(caller({ headers: { authorization: 'Basic x' } })), /malformed/);
  });

  it('expires by the clock while it is remembered', async () => {
    const { host, enter } = await door();
    const expiresMs = host.clock.now() + 1_000;
    const { secret } = await host.use(Keys).create({ accountId: 1, name: 'k', allowance: undefined, expiresMs });
    assert.equal(await enter(carriers.authorization!(secret)), 'ok');
    host.clock.advance(999);
    assert.equal(await enter(carriers.authorization!(secret)), 'ok');
    host.clock.advance(1);
    assert.equal(await enter(carriers.authorization!(secret)), '401 key_expired');
  });

  it('that is known is told at once, without a promise', async () => {
    const { host, secrets, enter } = await door();
    await enter(carriers.authorization!(secrets.valid));
    const answer = host.parts[2]!.authenticate!(exchange(carriers.authorization!(secrets.valid)));
    assert.ok(!(answer instanceof Promise));
    assert.equal(answer?.key.name, 'k');
  });

  it('opens nothing when the store cannot be read', async () => {
    const { host, secrets, authenticate } = await door();
    host.store.db.close();
    await assert.rejects(authenticate(carriers.authorization!(secrets.valid)), /not open/);
  });
});

describe('the guard', () => {
  it('says who holds the key, and refuses like a call does', async () => {
    const { secrets, guard } = await door();
    const said = await guard(carriers.authorization!(secrets.valid));
    assert.equal(said?.account?.name, 'root');
    assert.equal(said?.holder?.key.name, 'k');
    const refused = { unknown: '401 invalid_api_key', 'for another address': '403 ip_not_allowed' } as const;
    for (const [state, wanted] of Object.entries(refused) as [keyof typeof refused, string][]) {
      assert.equal(await verdict(() => guard(carriers.authorization!(secrets[state]))), wanted);
    }
    assert.equal(await verdict(() => guard(caller())), '401 invalid_api_key');
  });
});

describe('the section', () => {
  it('decides in which places a key is looked for', async () => {
    const host = await driveWithLedger([accounts, keys, auth], {
      sections: { auth: { headers: ['x-other'], query: 'k' } },
    });
    host.store.db.exec(
      `INSERT INTO account (id, name, folded, role, enabled, created_ms) VALUES (1, 'root', 'root', 'root', 1, 0)`,
    );
    const { secret } = await host.use(Keys).create({ accountId: 1, name: 'k', allowance: undefined });
    const enter = (request: Caller) => verdict(async () => host.parts[2]!.authenticate!(exchange(request)));
    assert.equal(await enter(caller({ headers: { 'x-other': secret } })), 'ok');
    assert.equal(await enter(list({ query: `k=${secret}` })), 'ok');
    assert.equal(await enter(carriers.authorization!(secret)), '401 invalid_api_key');
    assert.equal(await enter(carriers.query!(secret)), '401 invalid_api_key');
  });
});
