/** The table of rates: every list of kinds of tokens follows it, and its documentation says which files a new kind changes. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { RATE_NAMES, RATES, type RateKind } from '../../../core/contracts/formats/rates.ts';
import { ROOT, table } from '../../e2e/documents/readme-kit.ts';

/** Made from the schemas of routes (`scripts/console-sources.mjs`); and migrations, to which a new kind adds one in `tables.ts`. */
const LEFT_OUT = ['console/src/api/operations.ts', 'plugins/log/record-tables.ts'];
/** The newest kind of token, by its field of `Usage` and by its name in tables. */
const NEWEST = /\boutputImage\b|\boutput_image\b/;

describe('the table of rates', () => {
  it('has parents before their children, within one total', () => {
    for (const [at, rate] of RATE_NAMES.entries()) {
      const { parent, total, group }: RateKind = RATES[rate];
      assert.equal(parent === undefined, (rate as string) === total);
      assert.equal(parent === undefined, group === undefined);
      if (parent === undefined) continue;
      const before = (RATE_NAMES as readonly string[]).indexOf(parent);
      assert.ok(before >= 0 && before < at, rate);
      assert.equal(RATES[RATE_NAMES[before]!].total, total, rate);
    }
  });

  it('gives each kind names of its own', () => {
    for (const name of ['label', 'of', 'wire', 'published'] as const) {
      const all = RATE_NAMES.map((rate) => RATES[rate][name]);
      assert.equal(new Set(all).size, all.length, name);
    }
  });

  it('is followed by all code but the files that its documentation lists, which are at most 8 with a style that reports the kind', () => {
    const listed = table('File')
      .filter(({ page }) => page === 'plugins/prices/README.md')
      .flatMap(({ cells }) => [...(cells[0] ?? '').matchAll(/`([^`]+)`/g)])
      .map(([, path = '']) => normalize(join('plugins/prices', path)));
    const naming = ['core', 'plugins', 'console/src']
      .flatMap((room) =>
        readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((path) => join(room, path)),
      )
      .filter((path) => /\.tsx?$/.test(path) && !LEFT_OUT.includes(path))
      .filter((path) => NEWEST.test(readFileSync(join(ROOT, path), 'utf8')))
      // How an API reports usage is for its style and its vendor to know, and how another gateway does for its reader.
      .filter((path) => !/^plugins\/(styles|vendors|import\/[^/]+)\//.test(path));
    assert.deepEqual(naming.sort(), listed.toSorted());
    assert.ok(listed.length + 1 <= 8, `${listed.length} files and a style`);
  });
});
