import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  all,
  type Condition,
  condition,
  contains,
  either,
  mentions,
  readPage,
} from '../../../core/store/sql-conditions.ts';
import { memoryStore } from '../../kit/gateway/drive.ts';

describe('a search condition', () => {
  it('selects by the given filters, and everything without filters', () => {
    assert.deepEqual(all(condition('a = ?', undefined), contains('b', undefined), either(contains('c', ''))), {
      sql: '1 = 1',
      params: [],
    });
    const both = all(
      condition('a = ?', 1),
      either(condition('b = ?', 2), condition('c = ?', undefined), condition('d')),
    );
    assert.deepEqual(both, { sql: '(a = ? AND (b = ? OR d))', params: [1, 2] });
    assert.equal(condition('a BETWEEN ? AND ?', 1, undefined), undefined);
  });

  it('on text matches literally, without wildcards', async () => {
    const store = memoryStore();
    await store.run('CREATE TABLE thing (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL) STRICT');
    for (const name of ['100%', '100', 'a_b', 'axb', 'c\\d', 'Übung', ''])
      await store.run('INSERT INTO thing (name) VALUES (?)', name);
    const found = async (wanted: Condition | undefined): Promise<readonly string[]> => {
      const { rows } = await readPage<{ name: string }>(store, 'thing', 'name', all(wanted), {
        offset: 0,
        limit: 10,
      });
      return rows.map(({ name }) => name);
    };
    assert.deepEqual(await found(contains('name', '0%')), ['100%']);
    assert.deepEqual(await found(contains('name', 'a_')), ['a_b']);
    assert.deepEqual(await found(contains('name', '\\')), ['c\\d']);
    assert.deepEqual(await found(mentions('name', 'AX')), ['axb']);
    assert.deepEqual(await found(mentions('name', 'Üb')), ['Übung']);
  });

  it('returns a page, latest first, and the total count', async () => {
    const store = memoryStore();
    await store.run('CREATE TABLE thing (id INTEGER NOT NULL PRIMARY KEY) STRICT');
    for (let id = 1; id <= 5; id++) await store.run('INSERT INTO thing (id) VALUES (?)', id);
    const page = await readPage(store, 'thing', 'id', all(condition('id < ?', 5)), { offset: 1, limit: 2 });
    assert.deepEqual(
      { ...page, rows: page.rows.map((row) => ({ ...(row as object) })) },
      { total: 4, rows: [{ id: 3 }, { id: 2 }] },
    );
  });
});
