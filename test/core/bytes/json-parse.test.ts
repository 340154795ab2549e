/** `JSON.parse` in the versions of Node that confuse member names (core/bytes/json-parse.ts), and in those that do not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exactParse } from '../../../core/bytes/json-parse.ts';
import fc from '../../kit/fast-check.ts';
import '../../../core/plugin.ts';

const names = (text: string): readonly string[] => Object.keys(JSON.parse(text));

describe('JSON.parse', () => {
  it('reads a name with an escape as it is written, whatever names were read before', () => {
    for (const [before, text, name] of [
      ['{"a":1,"\\\\":2}', '{"a":1,"\\n":2}', '\n'],
      ['{"\\\\":2}', '{"\\t":2}', '\t'],
      ['{"b":1,"x\\\\":2}', '{"b":1,"x\\"":2}', 'x"'],
      ['{"c":1,"\\\\u00":2}', '{"c":1,"\\u0041\\u0042\\u0043\\u0044":2}', 'ABCD'],
      ['{"d":1,"\\\\":{"e":1,"\\\\":2}}', '{"d":1,"\\r":{"e":1,"\\b":2}}', '\r'],
    ] as const) {
      for (let again = 0; again < 3; again++) {
        JSON.parse(before);
        assert.equal(names(text).at(-1), name, text);
        assert.deepEqual(exactParse(text), { ...(JSON.parse(text) as object) });
      }
    }
  });

  it('is not confused by names in other texts of the same shape', async () => {
    const { default: undici } = await import('undici');
    for (const each of [Response, undici.Response]) {
      await new each('{"f":1,"\\\\":2}').json();
      assert.deepEqual(await new each('{"f":1,"\\n":2}').json(), { f: 1, '\n': 2 });
    }
  });
});

describe('its mended form', () => {
  const spelled = (text: string): string =>
    `"${Array.from(text, (one) => (one < '5' ? JSON.stringify(one).slice(1, -1) : escaped(one))).join('')}"`;
  const escaped = (one: string): string =>
    [...Array(one.length).keys()].map((i) => `\\u${one.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
  const written = (value: unknown): string => {
    if (typeof value === 'string') return spelled(value);
    if (Array.isArray(value)) return `[ ${value.map(written).join(' ,')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `{\n${Object.entries(value)
      .map(([name, its]) => `${spelled(name)} :${written(its)}`)
      .join('\t, ')}}`;
  };

  it('gives the value of every text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        for (const text of [JSON.stringify(value), written(value)]) {
          assert.deepEqual(exactParse(text), plain);
          assert.equal(JSON.stringify(exactParse(text)), JSON.stringify(plain));
        }
      }),
    );
  });

  it('keeps what JSON.parse promises: own `__proto__`, the last of equal names, a reviver, any depth, its errors', () => {
    const own = exactParse('{"__proto__":{"\\u0061":1}}') as object;
    assert.deepEqual([Object.keys(own), Object.getPrototypeOf(own)], [['__proto__'], Object.prototype]);
    assert.equal(JSON.stringify(exactParse('{"\\u0061":1,"b":2,"a":3}')), '{"a":3,"b":2}');
    const more = exactParse('{"\\n":[1,{"b":2}],"c":"x"}', (name, value) => {
      if (name === 'c') return undefined;
      return typeof value === 'number' ? value + 1 : value;
    });
    assert.deepEqual(more, { '\n': [2, { b: 3 }] });
    const deep = 100_000;
    let nested = (exactParse(`{"\\n":${'['.repeat(deep)}${']'.repeat(deep)}}`) as Record<string, unknown[]>)['\n'];
    let depth = 0;
    for (; nested !== undefined; depth++) nested = nested[0] as unknown[] | undefined;
    assert.equal(depth, deep);
    for (const text of ['{"\\n":1', '{"\\n":01}', '{"\\n" 1}', '{"\\x":1}', ''])
      assert.throws(() => exactParse(text), SyntaxError);
  });
});
