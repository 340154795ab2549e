/** The log: one line per message whatever is in it, and no secret in any of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog, createRedactor, type Log, type LogLevel } from '../../../core/runtime/logger.ts';
import { isSecretName } from '../../../core/runtime/secrets.ts';
import fc from '../../kit/fast-check.ts';

/** A log and the lines it wrote. */
function listen(level: LogLevel = 'info'): {
  readonly log: Log;
  readonly lines: string[];
  last(): Record<string, unknown>;
} {
  const lines: string[] = [];
  const log = createLog({ level, write: (line) => void lines.push(line), now: () => Date.UTC(2026, 0, 31, 12) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') };
}

/** What becomes of one fact. */
function fact(value: unknown, level: LogLevel = 'info'): unknown {
  const { log, last } = listen(level);
  log.info('x', { value });
  return last().value;
}

describe('a log line', () => {
  it('has time, level and message, then the facts in order', () => {
    const { log, lines } = listen();
    log.warn('the vendor is busy', { channel: 'a-main', status: 429 });
    assert.deepEqual(lines, [
      '{"ts":"2026-01-31T12:00:00.000Z","level":"warn","msg":"the vendor is busy","channel":"a-main","status":429}',
    ]);
  });

  it('is written from the configured level on', () => {
    const written = (level: LogLevel) => {
      const { log, lines } = listen(level);
      for (const each of ['debug', 'info', 'warn', 'error'] as const) log[each](each);
      return lines.map((line) => JSON.parse(line).level);
    };
    assert.deepEqual(written('debug'), ['debug', 'info', 'warn', 'error']);
    assert.deepEqual(written('info'), ['info', 'warn', 'error']);
    assert.deepEqual(written('warn'), ['warn', 'error']);
    assert.deepEqual(written('error'), ['error']);
  });

  it('keeps its own members: facts of the same name are renamed', () => {
    const { log, last } = listen();
    log.info('mine', { ts: 1, level: 'fatal', msg: 'theirs', ['__proto__']: 'odd' });
    assert.deepEqual(
      { ...last() },
      {
        ts: '2026-01-31T12:00:00.000Z',
        level: 'info',
        msg: 'mine',
        ts_: 1,
        level_: 'fatal',
        msg_: 'theirs',
        ['__proto__']: 'odd',
      },
    );
  });

  it('is one line without control characters, whatever the facts contain', () => {
    const { log, lines } = listen();
    const evil = '\n{"level":"fatal"}\r\u001b[31m\u009b31m\u2028\u2029\u0085\u0000\ud800';
    log.info(`agent ${evil}`, { [evil]: evil, nested: [{ [evil]: [evil] }], error: new Error(evil) });
    assert.equal(lines.length, 1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(lines[0]!, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    assert.equal(JSON.parse(lines[0]!).level, 'info');
    assert.equal(JSON.parse(lines[0]!).msg, `agent ${evil}`);
  });
});

describe('the settings of a log', () => {
  const settings = { format: 'json', plugins: {} } as const;

  it('replace the level it was created with, and leave it if they have none', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn', write: (line) => lines.push(line), now: () => 0 });
    log.configure({ ...settings, level: 'debug' });
    log.debug('one');
    log.configure(settings);
    log.info('two');
    log.warn('three');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ['one', 'three'],
    );
  });

  it('give single plugins levels of their own, and name the plugin in its lines', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => 0 });
    const [models, quota, odd] = [log.of('models'), log.of('quota'), log.of('toString')];
    log.configure({ ...settings, level: 'warn', plugins: { models: 'debug', quota: 'error' } });
    for (const each of [log, models, quota, odd]) {
      each.debug('debug');
      each.warn('warn', { plugin: 'a fact' });
    }
    assert.deepEqual(
      lines.map((line) => {
        const { plugin, plugin_, msg } = JSON.parse(line);
        return [plugin, msg, plugin_];
      }),
      [
        ['a fact', 'warn', undefined],
        ['models', 'debug', undefined],
        ['models', 'warn', 'a fact'],
        ['toString', 'warn', 'a fact'],
      ],
    );
  });

  it('write text for people, still in one line and without secrets', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => Date.UTC(2026, 0, 31, 12) });
    log.configure({ ...settings, format: 'text' });
    log.hide('a-secret-of-a-channel');
    log.warn('the vendor said "no"', { channel: 'a-main', status: 429, reason: 'a b\n\u001b[31m', list: [1] });
    log.info('ready');
    log.of('models').info('sent a-secret-of-a-channel');
    assert.deepEqual(lines, [
      String.raw`2026-01-31T12:00:00.000Z WARN  the vendor said "no"  channel=a-main status=429 reason="a b\n\u001b[31m" list=[1]`,
      '2026-01-31T12:00:00.000Z INFO  ready',
      '2026-01-31T12:00:00.000Z INFO  sent [secret]  plugin=models',
    ]);
  });
});

describe('facts', () => {
  it('become JSON values', () => {
    assert.deepEqual(
      fact({
        big: 12345678901234567890n,
        nan: NaN,
        infinite: -Infinity,
        none: null,
        yes: true,
        when: new Date(0),
        bytes: Buffer.from('abc'),
        url: new URL('http://a/b'),
        nothing: undefined,
        function: () => {},
        symbol: Symbol('x'),
      }),
      {
        big: '12345678901234567890',
        nan: 'NaN',
        infinite: '-Infinity',
        none: null,
        yes: true,
        when: '1970-01-01T00:00:00.000Z',
        bytes: '[3 bytes]',
        url: 'http://a/b',
      },
    );
    assert.deepEqual(fact([1, undefined, () => {}, [2n]]), [1, null, null, ['2']]);
  });

  it('that are errors have message and code, and the stack at debug level only', () => {
    const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address: '10.0.0.1' });
    assert.deepEqual(fact(error), { message: 'refused', code: 'ECONNREFUSED' });
    assert.deepEqual(fact(new TypeError('odd')), { message: 'odd' });
    const { stack, ...rest } = fact(error, 'debug') as { stack: string };
    assert.deepEqual(rest, { message: 'refused', code: 'ECONNREFUSED' });
    assert.match(stack, /^Error: refused\n\s+at /);
  });

  it('that are errors of `JSON.parse` do not have what it could not parse', () => {
    for (const level of ['info', 'debug'] as const)
      for (const text of ['Blue Heron', `{"a": ${'x'.repeat(90)} Blue Heron}`, '[1, Blue Heron]']) {
        let error: unknown;
        try {
          JSON.parse(text);
        } catch (thrown) {
          error = thrown;
        }
        const lines: string[] = [];
        createLog({ level, write: (line) => lines.push(line), now: () => 0 }).error('failed', { error });
        assert.match(lines[0]!, /not valid JSON/);
        assert.doesNotMatch(lines[0]!, /Heron|xxx/);
      }
  });

  it('are truncated if they are too long, too deep or too many', () => {
    const long = fact('x'.repeat(1_000_000)) as string;
    assert.equal(long, `${'x'.repeat(8192)}… (991808 more)`);
    assert.equal(fact('x'.repeat(8192)), 'x'.repeat(8192));

    let deep: unknown = 'bottom';
    for (let i = 0; i < 100; i++) deep = { deep };
    assert.match(JSON.stringify(fact(deep)), /"\[deep\]"/);

    const many = fact(Array.from({ length: 10_000 }, (_, i) => i)) as unknown[];
    assert.ok(many.length <= 501);
    assert.equal(many.at(-1), '… cut off');
    const wide = fact(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`m${i}`, i]))) as object;
    assert.ok(Object.keys(wide).length <= 501);
    let tree: unknown = 1;
    for (let i = 0; i < 5; i++) tree = Array(60).fill(tree);
    assert.ok(JSON.stringify(fact(tree)).length < 20_000);
  });

  it('that throw when read are omitted, and the line is written', () => {
    const cyclic: Record<string, unknown> = { name: 'a' };
    cyclic.self = cyclic;
    assert.deepEqual(fact(cyclic), { name: 'a', self: '[cyclic]' });
    const twice = { a: 1 };
    assert.deepEqual(fact([twice, twice]), [{ a: 1 }, { a: 1 }]);

    const broken = () => {
      throw new Error('broken');
    };
    assert.deepEqual(fact(Object.defineProperty({ good: 1 }, 'bad', { enumerable: true, get: broken })), {
      good: 1,
      bad: '[unreadable]',
    });
    assert.equal(fact({ toJSON: broken }), '[unreadable]');
    assert.equal(fact(new Proxy({}, { ownKeys: broken })), '[unreadable]');
    assert.deepEqual(fact(Object.defineProperty(new Error('x'), 'message', { get: broken })), {
      message: '[unreadable]',
    });

    const { log, last } = listen();
    log.error('still written', new Proxy({}, { ownKeys: broken }));
    assert.deepEqual([last().msg, last().facts], ['still written', '[unreadable]']);
  });

  it('never make the logger throw', () => {
    const { log, lines } = listen('debug');
    fc.assert(
      fc.property(
        fc.string(),
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withTypedArray: true,
          withSparseArray: true,
          withBoxedValues: true,
        }),
        (message, value) => {
          lines.length = 0;
          log.debug(message, value as Record<string, unknown>);
          log.debug(message, { value });
          assert.equal(lines.length, 2);
          for (const line of lines) JSON.parse(line);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are dropped silently if they cannot be written', () => {
    const log = createLog({
      level: 'info',
      write: () => {
        throw new Error('EPIPE');
      },
      now: () => 0,
    });
    assert.doesNotThrow(() => log.info('x'));
  });
});

describe('secrets by field name', () => {
  it('are recognized', () => {
    for (const name of [
      'key',
      'apiKey',
      'apikey',
      'api_key',
      'x-api-key',
      'X-Goog-Api-Key',
      'APIKey',
      'OPENAI_API_KEY',
      'authorization',
      'Proxy-Authorization',
      'cookie',
      'set-cookie',
      'secret',
      'webhookSecret',
      'password',
      'TURNPIKE_ROOT_PASSWORD',
      'token',
      'accessToken',
      'credential',
    ]) {
      assert.ok(isSecretName(name), name);
    }
    for (const name of [
      'keyId',
      'key_id',
      'monkey',
      'tokens',
      'inputTokens',
      'max_tokens',
      'keys',
      'author',
      'secretary',
      'model',
      '',
    ]) {
      assert.ok(!isSecretName(name), name);
    }
  });

  it('are masked at every depth, whatever their type', () => {
    const { log, last } = listen();
    log.info('x', {
      key: 'short',
      request: { headers: { authorization: 'x', Cookie: ['a', 'b'], accept: 'y' } },
      token: { deep: 1 },
      keyId: 7,
    });
    const { ts, level, msg, ...facts } = last();
    assert.deepEqual(facts, {
      key: '[secret]',
      request: { headers: { authorization: '[secret]', Cookie: '[secret]', accept: 'y' } },
      token: '[secret]',
      keyId: 7,
    });
  });
});

describe('secrets by their format', () => {
  const masked: readonly (readonly [text: string, shown: string])[] = [
    ['Incorrect API key provided: sk-abcDEF0123456789.', 'Incorrect API key provided: [secret].'],
    ['my_sk-abcDEF0123456789', 'my_[secret]'],
    ['Authorization: Bearer abc.DEF-0123456789', 'Authorization: [secret]'],
    ['sent Bearer abcDEF0123456789== to', 'sent Bearer [secret] to'],
    ['GET /v1/models?key=abc&limit=3', 'GET /v1/models?key=[secret]&limit=3'],
    ['access_token=abcdef;x', 'access_token=[secret]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '[secret]'],
    ['-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY----- after', '[secret] after'],
    ['-----BEGIN EC PRIVATE KEY-----\nMIIEvQ cut off', '[secret]'],
    ['{"api_key": "abc def", "model": "m"}', '{"api_key": "[secret]", "model": "m"}'],
    ['body: "{\\"password\\":\\"abc\\"}"', 'body: "{\\"password\\":\\"[secret]\\"}"'],
    ['x-api-key: abc\r\naccept: */*', 'x-api-key: [secret]\r\naccept: */*'],
    ['set-cookie: session=abc; Path=/', 'set-cookie: [secret]'],
    ['https://user:pass-word@example.com/', 'https://[secret]@example.com/'],
  ];
  for (const [text, shown] of masked) {
    it(`${JSON.stringify(text)} is written ${JSON.stringify(shown)}`, () =>
      assert.equal(createRedactor().redact(text), shown));
  }

  const innocent = [
    'sk-abcd…wxyz',
    'task-1234567890 on disk-1234567890',
    'the key is 12 characters, max_tokens=100',
    'channels[0].key: must be text',
    '{"max_tokens": "100", "keys": "3"}',
    'http://127.0.0.1:8080/v1/models',
    '01HZXJ5Y7Q8R9S0T1V2W3X4Y5Z',
    'bearer of news',
  ];
  for (const text of innocent) {
    it(`${JSON.stringify(text)} is not a secret`, () => assert.equal(createRedactor().redact(text), text));
  }

  it('are found in messages, facts, names of facts, errors and stacks', () => {
    const { log, lines } = listen('debug');
    const key = 'sk-abcDEF0123456789';
    log.info(`with ${key}`, { text: key, [key]: 1, list: [key], error: Object.assign(new Error(key), { code: key }) });
    assert.doesNotMatch(lines[0]!, new RegExp(key));
    assert.equal(lines[0]!.match(/\[secret\]/g)?.length, 7);
  });
});

describe('registered secrets', () => {
  const encodings = (secret: string, before: string, behind: string): readonly string[] => {
    const wrapped = Buffer.from(before + secret + behind);
    const address = encodeURIComponent(secret);
    return [
      secret,
      secret.toLowerCase(),
      JSON.stringify(secret).slice(1, -1),
      address,
      address.replace(/%../g, (escaped) => escaped.toLowerCase()),
      new URLSearchParams({ q: secret }).toString().slice(2),
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('hex').toUpperCase(),
      wrapped.toString('base64'),
      wrapped.toString('base64url'),
    ];
  };

  /** Whether a text still holds the secret, in plain words or anywhere inside its base64 and hexadecimal runs. */
  const holds = (text: string, secret: string): boolean => {
    const read = [text];
    for (const run of text.match(/[A-Za-z0-9+/_-]{4,}={0,2}/g) ?? []) {
      for (let shift = 0; shift < 4; shift++) read.push(Buffer.from(run.slice(shift), 'base64').toString('latin1'));
      for (let shift = 0; shift < 2; shift++) read.push(Buffer.from(run.slice(shift), 'hex').toString('latin1'));
    }
    return read.some((each) => each.includes(secret));
  };

  // The placeholder must not be able to spell a secret out.
  const secrets = fc
    .string({ minLength: 8, maxLength: 60, unit: fc.constantFrom(...'abcXYZ0189-_.~!*\'()+/=&%? "\\<>{}[]$^|@:;,#') })
    .filter((secret) => !'[secret][secret]'.includes(secret));

  it('are masked in every encoding, in every position', () => {
    fc.assert(
      fc.property(
        secrets,
        fc.string({ maxLength: 5 }),
        fc.string({ maxLength: 5 }),
        fc.string({ maxLength: 20 }),
        (secret, before, behind, around) => {
          const redactor = createRedactor();
          redactor.hide(secret);
          for (const encoded of encodings(secret, before, behind)) {
            const masked = redactor.redact(`${around}${encoded}${around}`);
            assert.ok(!holds(masked, secret), masked);
            assert.ok(!masked.includes(encoded), masked);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are masked idempotently', () => {
    const looks = fc.constantFrom(
      'sk-abcDEF0123456789',
      'Bearer abcDEF0123456789',
      '?key=abc',
      '"token":"abc"',
      'cookie: a',
      '://u:p@h',
      'eyJhbGciOi.eyJzdWIi.x',
      '-----BEGIN KEY-----',
      '[secret]',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(
        fc.array(secrets, { maxLength: 4 }),
        fc.array(fc.oneof(looks, fc.string(), fc.nat({ max: 3 })), { maxLength: 12 }),
        (hidden, pieces) => {
          const redactor = createRedactor();
          for (const secret of hidden) redactor.hide(secret);
          const text = pieces.map((piece) => (typeof piece === 'number' ? (hidden[piece] ?? '') : piece)).join('');
          const masked = redactor.redact(text);
          assert.equal(redactor.redact(masked), masked);
          for (const secret of hidden) assert.ok(!masked.includes(secret), masked);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('are masked from the next line on, the longest first', () => {
    const { log, last } = listen();
    log.info('correct-horse-battery');
    assert.equal(last().msg, 'correct-horse-battery');
    log.hide('correct-horse');
    log.hide('correct-horse-battery');
    log.info('correct-horse-battery and correct-horse');
    assert.equal(last().msg, '[secret] and [secret]');
  });

  it('are masked even if they only appear after another mask', () => {
    const redactor = createRedactor();
    redactor.hide('abcdefg-[');
    assert.doesNotMatch(redactor.redact('abcdefg-sk-abcDEF0123456789'), /abcdefg/);
  });

  it('leave no part behind if a long text is truncated', () => {
    const { log, lines } = listen();
    log.hide('correct-horse-battery');
    log.info('x', { text: `${'x'.repeat(8185)}correct-horse-battery` });
    assert.doesNotMatch(lines[0]!, /correct/);
  });

  it('that are too short to be told from words are not masked', () => {
    const redactor = createRedactor();
    for (const short of ['', 'none', '1234567']) redactor.hide(short);
    assert.equal(redactor.redact('none of 1234567 words'), 'none of 1234567 words');
  });

  it('and similar texts are scanned in linear time', () => {
    // Each of these takes minutes where a pattern looks at the same run again and again.
    for (const piece of [
      'eyJ',
      'x-',
      '\\',
      '"key":',
      '://a:',
      'Bearer ',
      '-----BEGIN A',
      'sk-',
      'cookie:',
      ' ',
      '"',
      'key',
    ]) {
      const text = piece.repeat(Math.ceil(500_000 / piece.length));
      assert.ok(createRedactor().redact(text).length <= 2 * text.length, piece);
    }
  });
});
