/** Quirks: how layers become one, which models a vendor's patterns mean, and what gateway.yaml may say. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkValue } from '../../../core/config/validator.ts';
import { layQuirks, quirksOfModel, quirksSchema, USUAL } from '../../../core/translation/quirks/quirks.ts';

describe('layers of quirks', () => {
  it('are the defaults without entries', () => {
    assert.deepEqual(layQuirks(), USUAL);
    assert.deepEqual(layQuirks({}, { roles: {} }, USUAL), USUAL);
  });

  it('are merged member by member, later ones win', () => {
    const whole = layQuirks(
      { roles: { developer: 'system', first_user: true }, prefill: false, limits: { max_output: 8_192 } },
      { roles: { developer: 'keep' }, limits: { context: 200_000 } },
    );
    assert.deepEqual(whole.roles, { ...USUAL.roles, developer: 'keep', first_user: true });
    assert.deepEqual(whole.limits, { ...USUAL.limits, max_output: 8_192, context: 200_000 });
    assert.equal(whole.prefill, false);
    assert.equal(whole.style, undefined);
  });

  it('replace lists, and merge maps of fields', () => {
    const whole = layQuirks(
      { drop_fields: ['seed', 'user'], rename_fields: { a: 'b' }, set_fields: { safe: true, deep: { one: 1 } } },
      { drop_fields: ['logit_bias'], rename_fields: { c: 'd' }, set_fields: { deep: { two: 2 } } },
    );
    assert.deepEqual(whole.drop_fields, ['logit_bias']);
    assert.deepEqual(whole.rename_fields, { a: 'b', c: 'd' });
    assert.deepEqual(whole.set_fields, { safe: true, deep: { two: 2 } });
    assert.deepEqual(layQuirks({ sampling: { allowed: [] } }).sampling.allowed, []);
  });

  it('are not modified', () => {
    const before = structuredClone(USUAL);
    const layer = { roles: { developer: 'system' }, set_fields: { a: 1 } } as const;
    layQuirks(layer, { roles: { mid_system: 'front' }, set_fields: { b: 2 } });
    assert.deepEqual(USUAL, before);
    assert.deepEqual(layer, { roles: { developer: 'system' }, set_fields: { a: 1 } });
  });
});

describe('the quirks of a model', () => {
  const list = [
    { models: ['*'], quirks: { prefill: false } },
    { models: ['sonic-*', 'x.1'], quirks: { audio: { input: true } } },
    { models: ['*-MINI', '*-mini-*'], quirks: { stop: { max: 1 } } },
  ] as const;
  const found = (model: string): readonly number[] => {
    const all = quirksOfModel(list, model);
    return list.flatMap(({ quirks }, i) => (all.includes(quirks) ? [i] : []));
  };

  it('come from every pattern that matches its whole name, in order', () => {
    assert.deepEqual(quirksOfModel(list, 'sonic-mini'), [list[0].quirks, list[1].quirks, list[2].quirks]);
    assert.deepEqual(found('sonic-'), [0, 1]);
    assert.deepEqual(found('supersonic-1'), [0]);
    assert.deepEqual(found('a-mini-2026'), [0, 2]);
  });

  it('ignore case', () => {
    assert.deepEqual(found('Sonic-2-Mini'), [0, 1, 2]);
  });

  it('treat every character of a pattern except the star literally', () => {
    assert.deepEqual(found('x.1'), [0, 1]);
    assert.deepEqual(found('x-1'), [0]);
    assert.deepEqual(quirksOfModel([{ models: ['a+(b)*'], quirks: {} }], 'A+(B)\n/c').length, 1);
  });

  it('match patterns with several stars, whose parts are in order and apart', () => {
    const isMatch = (pattern: string, name: string) => quirksOfModel([{ models: [pattern], quirks: {} }], name).length;
    for (const name of ['abc', 'a-b-c', 'abbc', 'ab\nbc']) assert.equal(isMatch('a*b*c', name), 1, name);
    for (const name of ['ac', 'acb', 'abcd', 'xabc']) assert.equal(isMatch('a*b*c', name), 0, name);
    assert.deepEqual(
      [isMatch('ab*ba', 'aba'), isMatch('ab*ba', 'abba'), isMatch('**', ''), isMatch('*', 'a')],
      [0, 1, 1, 1],
    );
  });

  it('are empty if the vendor has no entries', () => {
    assert.deepEqual(quirksOfModel(undefined, 'm'), []);
    assert.deepEqual(quirksOfModel([], 'm'), []);
  });
});

describe('quirks in gateway.yaml', () => {
  const mistakes = (quirks: unknown): readonly string[] =>
    checkValue(quirksSchema, quirks).map(({ path, message }) => `${path.join('.')}: ${message}`);

  it('may have every key', () => {
    const everything = layQuirks({
      style: 'chat',
      image: { types: ['image/png'] },
      limits: { max_output: 4_096, context: 128_000 },
      reasoning: { levels: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
      stream: { usage: 'never', rewrite: true },
      drop_fields: ['user'],
      rename_fields: { max_tokens: 'max_new_tokens' },
      set_fields: { safe_prompt: true, nested: { deep: [null] } },
    });
    assert.deepEqual(mistakes(structuredClone(everything)), []);
  });

  it('may be empty, without defaults', () => {
    const empty = { roles: {} };
    assert.deepEqual(mistakes(empty), []);
    assert.deepEqual(empty, { roles: {} });
  });

  it('refuse unknown keys, and suggest the right one', () => {
    assert.deepEqual(mistakes({ role: {} }), ['role: unknown key; did you mean roles?']);
    assert.deepEqual(mistakes({ roles: { develper: 'keep' } }), [
      'roles.develper: unknown key; did you mean developer?',
    ]);
  });

  it('list the allowed values', () => {
    assert.deepEqual(mistakes({ roles: { developer: 'sytem' } }), [
      'roles.developer: must be keep or system; did you mean system?',
    ]);
    assert.deepEqual(mistakes({ sampling: { allowed: ['temprature'] } }).length, 1);
    assert.deepEqual(mistakes({ limits: { max_output: 0 } }), ['limits.max_output: must be a whole number, 1 or more']);
  });

  it('refuse an invalid pattern', () => {
    assert.deepEqual(mistakes({ tools: { name_pattern: '^[a-z+$' } }), [
      'tools.name_pattern: must be a regular expression such as ^[a-z_]+$',
    ]);
    assert.deepEqual(mistakes({ tools: { name_pattern: '^[a-z]+$' } }), []);
  });

  it('are all documented', () => {
    const undescribed = (path: string, value: unknown): readonly string[] =>
      Object.entries((value as { readonly properties?: object }).properties ?? {}).flatMap(([name, member]) => [
        ...(typeof (member as { readonly description?: string }).description === 'string' ? [] : [`${path}${name}`]),
        ...undescribed(`${path}${name}.`, member),
      ]);
    assert.deepEqual(undescribed('', quirksSchema), []);
  });
});
