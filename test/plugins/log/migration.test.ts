/** The plugin `log`: records of older releases are the same in the tables of this one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Records } from '../../../core/contracts/records.ts';
import log from '../../../plugins/log/index.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { drive, type MemoryStore, memoryStore } from '../../kit/gateway/drive.ts';
import { idAt, usageRecord } from '../../kit/gateway/usage-records.ts';

const NOW_MS = Date.UTC(2026, 8, 15, 10, 30);
const BEFORE = log.migrations!.filter(({ id }) => id < 8);
const SINCE = log.migrations!.filter(({ id }) => id >= 8);

type Row = Readonly<Record<string, string | number | bigint | null>>;

/** What a served call of an older release left, as its statement wrote it. */
const ORDINARY = {
  account_id: 3,
  department_id: 5,
  key_id: 7,
  style: 'chat',
  model: 'm',
  channel: 'c',
  stream: 1,
  outcome: 'served',
  status: 200,
  input: 100,
  cache_read: 40,
  cache_write: 30,
  cache_write_long: 20,
  input_audio: 0,
  output: 50,
  reasoning: 5,
  output_audio: 0,
  estimated: 0,
  input_image: null,
  output_image: null,
  characters: null,
  seconds: null,
  images: null,
  image_size: null,
  image_quality: null,
  uses: null,
  service: null,
  charged: 2n ** 60n,
  included: 0,
  duration_ms: 900,
  first_byte_ms: 80,
  ip: '2001:db8::1',
  other: '{"price":{"input":"1"},"held":"2.5","attempts":[{"channel":"c","model":"u","status":200,"ms":800}]}',
  repeats: 0,
  route: '',
};
const UNUSED = Object.fromEntries(
  ['input', 'cache_read', 'cache_write', 'cache_write_long', 'input_audio', 'output', 'reasoning', 'output_audio']
    .concat('estimated', 'first_byte_ms')
    .map((column) => [column, null]),
);
const REFUSED = { ...UNUSED, outcome: 'refused', status: 404, channel: '', stream: 0, charged: 0n, other: '{}' };

/** One of each kind: what it has beside the ordinary. */
const KINDS: readonly Row[] = [
  {},
  {},
  { account_id: 4, department_id: 0, key_id: 8, ip: '' },
  { stream: 0, estimated: 1, first_byte_ms: null },
  { included: 1 },
  { input_audio: 9 },
  { output_audio: 8 },
  { input_image: 0, output_image: 7 },
  { characters: 4_096 },
  { seconds: 0.1 + 0.2 },
  { images: 2, image_size: null, image_quality: 'h"d\\' },
  { images: 1, image_size: '1024x1024', image_quality: null },
  { uses: '{"web_search":2}' },
  { service: '{"tier":"priority"}' },
  { charged: 0n, other: '{}' },
  { other: '{"clientRequestId":"a, \\"b\\"} ü"}' },
  { outcome: 'aborted', model: 'aborted-model' },
  { outcome: 'recovered', status: 500, channel: '' },
  { outcome: 'failed', status: 502, charged: 0n },
  { outcome: 'failed', status: 502 },
  REFUSED,
  { ...REFUSED, model: '', repeats: 12 },
  { ...REFUSED, model: 'made up 1 2', other: '{"code":"model_not_found"}', repeats: 3 },
  { ...REFUSED, style: '', model: '', outcome: 'served', status: 200, route: 'GET /v1/responses/:id', repeats: 7 },
  { style: '/v1/files', model: '' },
  { style: 'a', model: 'bc' },
  { style: 'ab', model: 'c' },
];

/** A store as it was, with a row of each kind that stands in this moment, or that was written while the clock had stepped back. */
function olderStore(): { readonly store: MemoryStore; readonly rows: readonly Row[] } {
  const store = memoryStore();
  for (const { sql } of BEFORE) for (const statement of sql) store.db.exec(statement);
  const ends = ['testtestte', 'otherrunne'];
  const rows = KINDS.flatMap((kind, i): readonly Row[] =>
    ends.map((end, run) => {
      const atMs = NOW_MS - 100_000 + i * 1_000;
      return {
        id: idAt(atMs).slice(0, 16) + end,
        at_ms: run === 1 && i % 5 === 0 ? atMs - 77_777 : atMs,
        ...ORDINARY,
        ...kind,
      };
    }),
  );
  const count = idAt(NOW_MS).slice(0, 10);
  for (const digits of ['000000', '000001', '0000v0', 'vvvvvv'])
    rows.push({ id: `${count}${digits}testtestte`, at_ms: NOW_MS, ...ORDINARY });
  for (const row of rows) {
    const columns = Object.keys(row);
    store.db
      .prepare(`INSERT INTO usage_record (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      .run(Object.values(row));
  }
  return { store, rows };
}

function migrate({ db }: MemoryStore): void {
  for (const { sql } of SINCE) for (const statement of sql) db.exec(statement);
  db.pragma('user_version = 1');
}

const read = ({ db }: MemoryStore, columns: readonly string[]): readonly unknown[] =>
  db
    .prepare(`SELECT ${columns.join(', ')} FROM usage_record ORDER BY id`)
    .safeIntegers()
    .all();

describe('records of an older release', () => {
  it('say the same as before, column by column', () => {
    const { store } = olderStore();
    const columns = ['id', ...Object.keys(ORDINARY)];
    const before = read(store, columns);
    migrate(store);
    assert.deepEqual(read(store, columns), before);
  });

  it('are read with the moment they had, also where the clock had stepped back', async () => {
    const { store, rows } = olderStore();
    migrate(store);
    const host = await drive([log], { store, clock: fakeClock(NOW_MS + 1), sections: { log: { keep: '90d' } } });
    const { page } = host.use(Records);
    for (const { id, at_ms: atMs } of rows) {
      const { items } = await page({ id: String(id) }, { limit: 2 });
      assert.deepEqual(
        items.map((line) => [line.id, line.atMs]),
        [[id, atMs]],
      );
    }
    const details = store.db.prepare('SELECT COUNT(*) FROM usage_detail WHERE at_ms IS NOT NULL').pluck().get();
    assert.equal(details, Math.ceil(KINDS.length / 5));
  });

  it('are not written twice, and are deleted when they are old enough', async () => {
    const { store, rows } = olderStore();
    migrate(store);
    const clock = fakeClock(NOW_MS + 1);
    const host = await drive([log], { store, clock, sections: { log: { keep: '90d' } } });
    const { steps } = host.use(Records);
    for (const { id } of rows) {
      await assert.rejects(store.atomic(steps(usageRecord({ id: String(id), atMs: NOW_MS }))), /UNIQUE/);
    }
    await host.start();
    clock.advance(91 * 86_400_000);
    const left = (): unknown =>
      ['usage_row', 'usage_detail', 'usage_label', 'usage_run'].map((table) =>
        store.db.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get(),
      );
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(left(), [0, 0, 0, 0]);
    await host.stop();
  });
});
