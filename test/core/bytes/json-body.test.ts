import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonLimits, scanAnswer, scanJson } from '../../../core/bytes/json-body.ts';
import type { Json, JsonBody, JsonObject } from '../../../core/contracts/formats/json.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { share } from '../../kit/console/whole.ts';
import fc from '../../kit/fast-check.ts';

const scan = (text: string, limits?: JsonLimits): JsonBody => scanJson(Buffer.from(text), limits);

/** The message of the refusal; fails where there is none, or where it is no 400 `invalid_json`. */
function refusal(bytes: string | Buffer, limits?: JsonLimits): string {
  let message = '';
  assert.throws(
    () => scanJson(Buffer.from(bytes), limits),
    (error) => {
      assert.ok(error instanceof GatewayError, String(error));
      assert.deepEqual([error.status, error.code, error.param], [400, 'invalid_json', '']);
      message = error.message;
      return true;
    },
  );
  return message;
}

const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];
const names = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ maxLength: 60 }))
  .filter((name) => !FORBIDDEN.includes(name));
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constantFrom<Json>(null, true, false, 0, -1.5e-7, 1e21, '', 'data:,', '"\\\\"\\'),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
      fc.string({ unit: 'binary', maxLength: 100 }),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(names, tie('value'), { maxKeys: 5 }),
  ),
})).value;
const objects = fc.dictionary(names, values, { maxKeys: 8 });
/** A JSON object as text, in several ways to write it. */
const texts = fc.tuple(objects, fc.constantFrom('', ' ', '\t', '\n \r'), fc.boolean()).map(([object, space, ascii]) => {
  // Every token between quotes stays; space goes around the others.
  const spaced = JSON.stringify(object).replace(/"(?:[^"\\]|\\.)*"|[{}[\]:,]/gs, (token) => `${space}${token}${space}`);
  return ascii ? spaced.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : spaced;
});

describe('scanning a body', () => {
  it('finds every member that JSON.parse finds', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const truth = JSON.parse(text) as JsonObject;
        const body = scan(text);
        assert.deepEqual(new Set(body.members.keys()), new Set(Object.keys(truth)));
        for (const [name, { start, end }] of body.members) {
          assert.deepEqual(JSON.parse(body.bytes.toString('utf8', start, end)), truth[name]);
          assert.deepEqual(body.get(name), truth[name]);
          assert.ok(body.has(name));
        }
        assert.deepEqual(body.tree(), truth);
        assert.equal(body.get('no such member'), undefined);
      }),
      { numRuns: 300 },
    );
  });

  it('accepts exactly the objects that JSON.parse accepts, also with one character changed', () => {
    let refused = 0;
    const damage = fc.tuple(
      fc.nat(),
      fc.constantFrom(
        '',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '-',
        '+',
        '.',
        'e',
        'E',
        '0',
        '1',
        't',
        'u',
        ' ',
        'x',
        '/',
      ),
      fc.nat({ max: 1 }),
    );
    fc.assert(
      fc.property(texts, damage, (text, [place, by, cut]) => {
        const at = place % (text.length + 1);
        const broken = text.slice(0, at) + by + text.slice(at + cut);
        // A damaged surrogate pair is not what this is about: bytes cannot hold one half.
        fc.pre(Buffer.from(broken).toString() === broken);
        let truth: Json | undefined;
        try {
          truth = JSON.parse(broken) as Json;
        } catch {
          truth = undefined;
        }
        let body: JsonBody | undefined;
        try {
          body = scan(broken);
        } catch (error) {
          assert.ok(error instanceof GatewayError);
          if (/twice|never accepted/.test(error.message)) return;
        }
        if (body === undefined) refused++;
        const isObject = typeof truth === 'object' && truth !== null && !Array.isArray(truth);
        assert.equal(body !== undefined, isObject, broken);
        if (body !== undefined) assert.deepEqual(body.tree(), truth);
      }),
      { numRuns: 1_500 },
    );
    assert.ok(refused > share(300), `only ${refused} were refused`);
  });

  it('refuses arbitrary bytes with 400 and no other error', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', ':', ',', '"', '"a"', '\\', '1', '-', 'null', ' ', '{"a":'), {
          maxLength: 30,
        })
        .map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, (data) => {
        try {
          scanJson(Buffer.from(data));
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.status === 400);
        }
        scanAnswer(Buffer.from(data));
      }),
      { numRuns: 500 },
    );
  });

  it('finds the end of a string with any escapes and quotes', () => {
    for (const inside of ['\\"', '\\\\', '\\n', '\\u0022', '\\\\\\"', '\\"\\"', 'é']) {
      for (let before = 0; before < 70; before++) {
        for (const after of [0, 1, 40]) {
          const text = `{"a":"${'x'.repeat(before)}${inside}${'y'.repeat(after)}","b":["${inside}"]}`;
          assert.deepEqual(scan(text).tree(), JSON.parse(text));
          assert.deepEqual(scan(text).get('b'), JSON.parse(text).b);
        }
      }
    }
  });

  it('reports the error and its position', () => {
    assert.match(refusal(''), /empty.*JSON object/);
    assert.match(refusal(' \n'), /empty/);
    assert.match(refusal('[1]'), /must be a JSON object/);
    assert.match(refusal('"a"'), /must be a JSON object/);
    assert.match(refusal('{"a" 1}'), /`1` at byte 5, expected a colon/);
    assert.match(refusal('{"a":1 "b":2}'), /`"` at byte 7, expected a comma or `}`/);
    assert.match(refusal('{"a":1,}'), /`}` at byte 7, expected a member name/);
    assert.match(refusal("{'a':1}"), /`'` at byte 1, expected a member name/);
    assert.match(refusal('{"a":[1,]}'), /`]` at byte 8, expected a value/);
    assert.match(refusal('{"a":tru}'), /`t` at byte 5, expected a value/);
    assert.match(refusal('{"a":01}'), /`1` at byte 6/);
    assert.match(refusal('{"a":1.}'), /expected a digit at byte 7/);
    assert.match(refusal('{"a":"C:\\Users"}'), /no such escape at byte 8.*written `\\\\`/);
    assert.match(refusal('{"a":"x'), /string at byte 5 has no end/);
    assert.match(refusal('{"a":[1'), /ends at byte 7, expected a comma or `]`/);
    assert.match(refusal('{"a":1}}'), /`}` at byte 7, expected nothing more/);
    assert.match(refusal('{"a":1}\0'), /byte 0x00 at byte 7/);
  });

  it('refuses a duplicate top-level member, with any escapes', () => {
    assert.match(refusal('{"model":"a","model":"b"}'), /"model" twice/);
    assert.match(refusal('{"model":"a","mod\\u0065l":"b"}'), /"model" twice/);
  });

  it('refuses a member that an object at any depth has twice, with any escapes, and however many it has', () => {
    assert.match(refusal('{"a":{"b":1,"b":2}}'), /member "b" twice, again at byte 12/);
    assert.match(refusal('{"a":[{"b":{"c":1}},{"b":{"c":{"d":1},"e":[{}],"c":2}}]}'), /"c" twice/);
    assert.match(refusal('{"a":{"b":1,"\\u0062":2}}'), /"b" twice/);
    assert.match(refusal('{"a":{"\\u0062":1,"b":2}}'), /"b" twice/);
    const many = Array.from({ length: 40 }, (_, i) => `"n${i}":{"n${i}":0}`).join();
    assert.match(refusal(`{"a":{${many},"n3":1}}`), /"n3" twice/);
    assert.match(refusal(`{"a":{${many},"n39":1}}`), /"n39" twice/);
    const text = `{"a":{${many},"b":[{"x":1},{"x":2}],"B":{"b":1}},"b":{"a":1}}`;
    assert.deepEqual(scan(text).tree(), JSON.parse(text));
  });

  it('compares names in time that grows with the body alone', () => {
    const names = Array.from({ length: 90_000 }, (_, i) => `"${i}":0`).join();
    const before = process.cpuUsage();
    scan(`{"a":{${names}}}`);
    // Comparing each name with all others would take minutes.
    assert.ok(process.cpuUsage(before).user < 5_000_000);
  });

  it('refuses a top-level member that is repeated in another case', () => {
    for (const text of [
      '{"model":"m","Model":"n"}',
      '{"MODEL":"m","model":"n"}',
      '{"max_tokens":1,"max_to\u212aens":2}',
      '{"messages":1,"me\u017fsages":2}',
    ]) {
      assert.throws(() => scan(text), /twice, differently spelt/);
    }
    assert.equal(scan('{"Model":"m","Other":1,"other_":2}').get('Model'), 'm');
  });

  it('refuses names that reach a prototype', () => {
    for (const name of FORBIDDEN) assert.match(refusal(`{"${name}":{}}`), /never accepted/);
    assert.match(refusal('{"a":[{"b":{"__proto__":{"x":1}}}]}'), /`__proto__`/);
    assert.match(refusal('{"a":{"\\u005f_proto__":1}}'), /`__proto__`/);
    assert.match(refusal('{"a":{"_\\u005fproto\\u005F_":1}}'), /`__proto__`/);
    // Honest words in a tool's schema.
    assert.ok(scan('{"tools":[{"properties":{"constructor":{},"prototype":{},"_private":{},"\\u540d":{}}}]}'));
    assert.ok(scan('{"a":"__proto__","b":["constructor"]}'));
    assert.equal(({} as { x?: number }).x, undefined);
  });

  it('refuses bytes that are not UTF-8, and a byte order mark', () => {
    assert.match(refusal(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), /UTF-8/);
    assert.match(refusal(Buffer.from('\uFEFF{}')), /byte order mark/);
    // Half a surrogate pair, as bytes and as an escape: only the escape is JSON.
    assert.match(refusal(Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d])), /UTF-8/);
    assert.equal(scan('{"a":"\\ud800"}').get('a'), '\ud800');
  });

  it('keeps numbers as they were written', () => {
    const text = '{"a":1e400,"b":-0,"c":9007199254740993,"d":1.0}';
    const body = scan(text);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((name) => body.get(name)),
      [Number.POSITIVE_INFINITY, -0, 9007199254740992, 1],
    );
    assert.equal(body.patched({ e: 'true' }).toString(), `${text.slice(0, -1)},"e":true}`);
  });

  it('leaves control characters inside strings to the parser', () => {
    const body = scan('{"a":"x\ny","b":1}');
    assert.equal(body.get('b'), 1);
    assert.throws(
      () => body.get('a'),
      (error) => error instanceof GatewayError && error.code === 'invalid_json',
    );
    assert.throws(
      () => body.tree(),
      (error) => error instanceof GatewayError && error.code === 'invalid_json',
    );
  });

  it('refuses what is nested too deep or has too many values, before parsing it', () => {
    const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    assert.ok(scan(nested(64)));
    assert.match(refusal(nested(65)), /more than 64 levels/);
    assert.ok(scan('{"a":[1,2]}', { tokens: 5 }));
    assert.match(refusal('{"a":[1,2,3]}', { tokens: 5 }), /more than 5 values and names/);
    assert.match(refusal(`{"a":${'['.repeat(10_000_000)}`), /levels/);
    assert.match(refusal(`{"a":[${'{},'.repeat(3_000_000)}{}]}`), /more than 200000/);
    assert.equal(scan(`{"a":"${'x'.repeat(1_000_000)}"}`).textBytes, 1_000_001);
  });

  it('counts the bytes of text, and media separately', () => {
    const base64 = 'iVBORw0KGgoAAAAN'.repeat(200);
    const part = (name: string, value: string): JsonBody => scan(JSON.stringify({ [name]: value }));
    assert.equal(scan('{"ab":"é","c":[12,true]}').textBytes, 2 + 2 + 1 + 2 + 4);

    for (const [name, value] of [
      ['url', `data:image/png;base64,${base64}`],
      ['image_url', `data:image/png;base64,${base64}`],
      ['data', base64],
      ['file_data', base64],
    ] as const) {
      const body = part(name, value);
      assert.deepEqual([body.media, body.textBytes], [1, name.length], name);
    }
    // An address is text, and a picture.
    const link = part('url', 'https://example.com/cat.png');
    assert.deepEqual([link.media, link.textBytes], [1, 3 + 27]);
    // Text is text, whatever it begins with and wherever it stands.
    const prose = 'data: here is what I mean, at length. '.repeat(50);
    for (const name of ['content', 'text', 'data', 'url']) {
      const body = part(name, prose);
      assert.deepEqual([body.media, body.textBytes], [0, name.length + prose.length], name);
    }
    const disguised = base64.slice(0, 640) + '这不是图片，'.repeat(400);
    assert.equal(part('data', disguised).media, 0);
    const list = scan(
      JSON.stringify({ image: [`data:image/png;base64,${base64}`, `data:image/png;base64,${base64}`] }),
    );
    assert.deepEqual([list.media, list.textBytes], [2, 5]);
  });
});

describe('what a body holds', () => {
  const body = scanJson(
    Buffer.from(
      '{"model":"m","a":"\u00e9t\u00e9","tools":[],"messages":[{"role":"system","tool_calls":[{"id":"x"}]}]}',
    ),
  );

  it('is found whatever its length and its letters', () => {
    for (const text of [
      '"a"',
      '"x"',
      '"id"',
      '"model"',
      '"tool_calls"',
      '"system"',
      '"\u00e9t\u00e9"',
      '"tool',
      '"role":"sys',
    ])
      assert.equal(body.holds(text), true, text);
  });

  it('is nothing else', () => {
    for (const text of ['"b"', '"tool_call_id"', '"tools_"', '"turnpike-sealed-1:', '"\u00e9te"', '"user"'])
      assert.equal(body.holds(text), false, text);
  });

  it('includes whether a list is empty', () => {
    assert.equal(body.hasEmptyList, true);
    assert.equal(scanJson(Buffer.from('{"a":[1],"b":{}}')).hasEmptyList, false);
  });

  it('is not looked for in large media', () => {
    const media = Buffer.from('x'.repeat(600_000)).toString('base64');
    const text = JSON.stringify({
      messages: [{ image_url: { url: `data:image/png;base64,${media}` } }, { role: 'tool' }],
    });
    const large = scanJson(Buffer.from(text));
    assert.deepEqual(
      [large.holds('"tool"'), large.holds('"data:image/png'), large.holds('"user"')],
      [true, true, false],
    );
  });
});

describe('patching a body', () => {
  it('has the same result as changing the parsed object', () => {
    const changes = fc.dictionary(names, fc.option(values, { nil: undefined }), { maxKeys: 3 });
    fc.assert(
      fc.property(
        texts,
        changes,
        fc.array(fc.tuple(fc.nat(), fc.option(values, { nil: undefined })), { maxLength: 4 }),
        (text, fresh, own) => {
          const body = scan(text);
          const keys = [...body.members.keys()];
          const wanted: Record<string, Json | undefined> = { ...fresh };
          for (const [i, value] of own) if (keys.length > 0) wanted[keys[i % keys.length]!] = value;
          const expected: Record<string, Json> = { ...(JSON.parse(text) as JsonObject) };
          for (const [name, value] of Object.entries(wanted)) {
            if (value === undefined) delete expected[name];
            else expected[name] = value;
          }
          // Two spellings of one name are refused, and this is not about that.
          fc.pre(
            new Set(Object.keys(expected).map((name) => name.toUpperCase().toLowerCase())).size ===
              Object.keys(expected).length,
          );
          const texted = Object.fromEntries(
            Object.entries(wanted).map(([name, value]) => [
              name,
              value === undefined ? undefined : JSON.stringify(value),
            ]),
          );
          const patched = body.patched(texted);
          assert.deepEqual(JSON.parse(patched.toString()), JSON.parse(JSON.stringify(expected)));
          // And it is a body again, without a member twice.
          assert.deepEqual(new Set(scanJson(patched).members.keys()), new Set(Object.keys(expected)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('leaves every other byte unchanged', () => {
    const body = scan('{ "model" : "a",\n "n":1.0, "s":"\\u0041" }');
    assert.equal(body.patched({ model: '"b"' }).toString(), '{ "model" : "b",\n "n":1.0, "s":"\\u0041" }');
    assert.equal(body.patched({ n: undefined }).toString(), '{ "model" : "a", "s":"\\u0041" }');
    assert.equal(body.patched({ model: undefined }).toString(), '{ "n":1.0, "s":"\\u0041" }');
    assert.equal(body.patched({ s: undefined, x: '[]' }).toString(), '{ "model" : "a",\n "n":1.0,"x":[] }');
    assert.equal(body.patched({ model: undefined, n: undefined, s: undefined }).toString(), '{  }');
    assert.equal(body.patched({}), body.bytes);
    assert.equal(body.patched({ missing: undefined }), body.bytes);
    assert.equal(scan('{}').patched({ 'é"': '1' }).toString(), '{"é\\"":1}');
    assert.equal(scan('{"toString":1}').patched({}).toString(), '{"toString":1}');
  });
});

describe('scanning a vendor reply', () => {
  it('accepts unusual but unambiguous JSON', () => {
    const answer = scanAnswer(
      Buffer.from(`{"id":"1","constructor":1,"id":"2","deep":${'['.repeat(100)}${']'.repeat(100)}}`),
    );
    assert.equal(answer?.get('id'), '2');
    assert.equal(scanAnswer(Buffer.from(`{"data":[${'0.5,'.repeat(300_000)}1]}`))?.has('data'), true);
  });

  it('is undefined for anything but a JSON object', () => {
    for (const text of ['', 'null', '[]', '"x"', '<!doctype html>', '{"a":', '{"a":1}{"b":2}', 'data: {}\n\n']) {
      assert.equal(scanAnswer(Buffer.from(text)), undefined, text);
    }
  });
});
