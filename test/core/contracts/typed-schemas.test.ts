/** Types that are inferred from schemas: each `is<…>()` only compiles if both types are the same. Values are those of the validator. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkedPart } from '../../../core/config/compiled-schemas.ts';
import { checkValue } from '../../../core/config/validator.ts';
import { duration, settings } from '../../../core/config/values.ts';
import { type Accepted, type Schema, schema, typed } from '../../../core/contracts/definitions.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only as `is<Same<…>>()`, and only if they are. */
function is<_ extends true>(): void {}

/** The value after validation, with the type that is inferred for it. */
function filled<T>(of: Schema<T>, value: unknown): T {
  assert.deepEqual(checkValue(checkedPart(of), value), []);
  return value as T;
}

describe('the type of a schema', () => {
  it('has members with a default, which are filled in, and those that are required; others are optional', () => {
    const section = typed({
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string' },
        size: { type: 'integer', default: 3 },
        share: { type: 'number' },
        loud: { type: 'boolean', default: false },
      },
    });
    is<
      Same<
        Accepted<typeof section>,
        { readonly name: string; readonly size: number; readonly loud: boolean; readonly share?: number }
      >
    >();
    const value = filled(section, { name: 'x' });
    const sum: number = value.size + (value.share ?? 1);
    assert.deepEqual([sum, value.loud, 'share' in value], [4, false, false]);
  });

  it('has groups of settings, their defaults and groups in them', () => {
    const inner = settings('Inner.', { every: { ...duration, default: '5m' }, at: duration });
    const section = typed(settings('Outer.', { inner, missing: { type: 'object', properties: inner.properties } }));
    interface Inner {
      readonly every: string;
      readonly at?: string;
    }
    is<Same<Accepted<typeof section>['inner'], { readonly every: string; readonly at?: string }>>();
    const value: { readonly inner: Inner; readonly missing?: Inner } = filled(section, {});
    assert.deepEqual(value, { inner: { every: '5m' } });
    assert.deepEqual(filled(section, { missing: {} }).missing, { every: '5m' });
  });

  it('has words and constants one by one', () => {
    const word = typed({ enum: ['one', 'two'], default: 'one' });
    is<Same<Accepted<typeof word>, 'one' | 'two'>>();
    const zero = typed({ type: 'integer', const: 0 });
    is<Same<Accepted<typeof zero>, 0>>();
  });

  it('has lists and maps, with the types of what is in them', () => {
    const lists = typed({
      type: 'array',
      items: { type: 'object', properties: { at: { type: 'integer', default: 1 } } },
    });
    is<Same<Accepted<typeof lists>, readonly { readonly at: number }[]>>();
    assert.equal(filled(lists, [{}])[0]?.at, 1);
    const maps = typed({ type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } });
    is<Same<Accepted<typeof maps>, Readonly<Record<string, readonly string[]>>>>();
    const groups = typed({
      type: 'object',
      additionalProperties: settings('Each.', { at: { type: 'integer', default: 1 } }),
    });
    is<Same<Accepted<typeof groups>, Readonly<Record<string, { readonly at: number }>>>>();
    assert.equal(filled(groups, { one: {} }).one?.at, 1);
    const open = typed({ type: 'object' });
    is<Same<Accepted<typeof open>, JsonObject>>();
  });

  it('has every type and every alternative', () => {
    const types = typed({ type: ['object', 'null'], properties: { at: { type: 'integer', default: 1 } } });
    is<Same<Accepted<typeof types>, { readonly at: number } | null>>();
    assert.equal(filled(types, null), null);
    const either = typed({ anyOf: [duration, { type: 'integer', const: 0 }, { type: 'object', required: ['a'] }] });
    is<Same<Accepted<typeof either>, string | 0 | JsonObject>>();
    const one = typed({ oneOf: [{ type: 'string' }, { type: 'number' }] });
    is<Same<Accepted<typeof one>, string | number>>();
  });

  it('is that of its properties where alternatives only say what is required', () => {
    const rule = typed({
      type: 'object',
      properties: { words: { type: 'string' }, pattern: { type: 'string' } },
      oneOf: [{ required: ['words'] }, { required: ['pattern'] }],
    });
    is<Same<Accepted<typeof rule>, { readonly words?: string; readonly pattern?: string }>>();
  });

  it('is the type that was assigned to a schema in it, also with other keywords', () => {
    interface Assigned {
      readonly deep: readonly [1, 2];
    }
    const assigned = schema<Assigned>({});
    const section = typed({
      type: 'object',
      properties: { a: assigned, b: { ...assigned, default: { deep: [1, 2] } } },
    });
    is<Same<Accepted<typeof section>, { readonly b: Assigned; readonly a?: Assigned }>>();
  });

  it('is unknown where a schema does not say it, or says it in values that are not literal', () => {
    const names: string[] = ['a'];
    const type: string = 'string';
    const loose = { type: 'string' };
    const section = typed({
      type: 'object',
      required: names,
      properties: { a: {}, b: { type }, c: loose, d: { default: 1 }, e: schema({}) },
    });
    is<
      Same<
        Accepted<typeof section>,
        {
          readonly d: unknown;
          readonly a?: unknown;
          readonly b?: unknown;
          readonly c?: unknown;
          readonly e?: unknown;
        }
      >
    >();
    const words = typed({ enum: names });
    is<Same<Accepted<typeof words>, string>>();
    // @ts-expect-error A number is not text.
    is<Same<Accepted<typeof words>, number>>();
  });
});
