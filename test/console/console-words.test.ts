/** Texts of the console that have a count: one of a thing is not several, and a duration has no unit of which there is none. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { withMoney } from '../../console/src/parts/with-money.ts';
import { durationText } from '../../console/src/shell/duration.ts';
import { WORDS } from '../../console/src/words.ts';

const SOURCES = 'console/src';

/** Words behind a value that end in s and are no plural of what is counted. */
const NO_PLURAL = /^(?:address|as|costs|ends|has|invites|is|lasts|sets|times|vs|was)$/;

/** Texts whose value is a name, or never 1. */
const NO_COUNT = /connect\/text\.ts useText\.needsHttps$|config\/text\.ts useText\.tooMany$/;

/** The texts with values in a set of texts, by their path. */
function textsIn(
  of: unknown,
  path: string,
): readonly (readonly [path: string, text: (...values: unknown[]) => string])[] {
  if (typeof of === 'function') return [[path, of as (...values: unknown[]) => string]];
  if (typeof of !== 'object' || of === null) return [];
  return Object.entries(of).flatMap(([name, each]) => textsIn(each, `${path}.${name}`));
}

/** What a text says of one; undefined if it takes other values than counts. */
function ofOne(text: (...values: unknown[]) => string, one: unknown): string | undefined {
  try {
    return text(...Array.from({ length: text.length }, () => one));
  } catch {
    return undefined;
  }
}

const plurals = (said: string): readonly string[] =>
  [...said.matchAll(/(?<![\d.,])1 ([a-z]+s)\b/g)].map(([, word = '']) => word).filter((word) => !NO_PLURAL.test(word));

describe('a text of the console', () => {
  const files = readdirSync(SOURCES, { recursive: true })
    .map((file) => join(SOURCES, `${file}`))
    .filter((file) => file.endsWith('text.ts') && file !== join(SOURCES, 'text.ts'));

  it('says one of a thing in the singular', async () => {
    assert.ok(files.length > 15, `${files}`);
    // What some of them import asks for the address of the page.
    Object.assign(globalThis, { document: { baseURI: 'http://localhost/console/' } });
    const wrong: string[] = [];
    let count = textsIn(WORDS, 'words').length;
    for (const file of files) {
      const module = (await tsImport(pathToFileURL(resolve(file)).href, import.meta.url)) as Readonly<
        Record<string, unknown>
      >;
      for (const [name, { en }] of Object.entries(module) as [string, { readonly en?: unknown }][]) {
        for (const [path, text] of textsIn(en, `${file} ${name}`)) {
          count++;
          if (NO_COUNT.test(path.replaceAll('\\', '/'))) continue;
          // Counts are numbers here, and written ones there.
          const said = ['1', 1].map((one) => ofOne(text, one)).filter((each) => each !== undefined);
          if (said.length > 0 && said.every((each) => plurals(each).length > 0)) wrong.push(`${path}: ${said[0]}`);
        }
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(count > 300, `${count} texts`);
  });
});

describe('a duration', () => {
  const write = (value: number, unit: string, digits = 0): string => `${value.toFixed(digits)} ${unit}`;
  for (const [ms, words] of [
    [840, '840 millisecond'],
    [1_240, '1.2 second'],
    [180_000, '3 minute'],
    [185_000, '3 minute 5 second'],
    [7_200_000, '2 hour'],
    [7_260_000, '2 hour 1 minute'],
    [86_400_000, '1 day'],
    [90_000_000, '1 day 1 hour'],
  ] as const) {
    it(`of ${ms} ms is ${words}`, () => assert.equal(durationText(ms, write), words));
  }
});

describe('a message of the gateway', () => {
  it('has its quota units in money, too', () => {
    const message = 'this call needs a reservation of 194.5 quota, and the account has only 0 quota left. No quota 7.';
    assert.equal(
      withMoney(message, (units) => `$${units / 1_000}`),
      'this call needs a reservation of 194.5 quota ($0.1945), and the account has only 0 quota ($0) left. No quota 7.',
    );
  });
});
