/** Alerts without a gateway: what is told of conditions, by one of several processes, and what waits for a target. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { beforeEach, describe, it } from 'node:test';
import { type AlertEvent, Alerts } from '../../../core/contracts/alerts.ts';
import { Prices } from '../../../core/contracts/prices.ts';
import { type BackupSchedule, Running } from '../../../core/contracts/running.ts';
import type { Host } from '../../../core/plugin.ts';
import { createBook, type Finding } from '../../../plugins/alerts/book.ts';
import { levelOf } from '../../../plugins/alerts/budgets.ts';
import { createDelivery } from '../../../plugins/alerts/delivery.ts';
import alerts from '../../../plugins/alerts/index.ts';
import { isZone, quietTime } from '../../../plugins/alerts/quiet.ts';
import { targetsOf } from '../../../plugins/alerts/targets.ts';
import fc from '../../kit/fast-check.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { type Driven, drive, type MemoryStore, memoryStore } from '../../kit/gateway/drive.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SECTION = {
  ...{ to: [], levels: [50, 80, 95, 100], budget: { channels: {} }, vendors: '5m' },
  ...{ prices: true, disk: true, backups: true, quiet: '', zone: 'UTC' },
};

let store: MemoryStore;
let clock: FakeClock;
let free: number;
let drift: readonly object[];
let schedule: BackupSchedule;
let driven: Driven;

beforeEach(async () => {
  store = memoryStore();
  clock = fakeClock();
  free = 50;
  drift = [];
  const keep = { last: 1, daily: 0, weekly: 0 };
  const none = { running: false, proven: undefined, failed: undefined, runs: [] };
  schedule = { everyMs: DAY_MS, to: '/backups', keep, encrypted: false, ...none };
  driven = await drive([alerts], {
    store,
    clock,
    sections: { alerts: SECTION },
    services: () => [
      [
        Running,
        { vitals: async () => ({ store: { scarce: false, room: { disk: 100, free } } }), backups: () => schedule },
      ],
      [Prices, { table: () => ({ models: [{ name: 'm', drift }], snapshot: { name: 'list', version: '1' } }) }],
    ],
  });
});

/** Time in which the chores of the plugin run, and what they began ends. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 30_000) {
    clock.advance(Math.min(left, 30_000));
    for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What was told, oldest first. */
async function told(): Promise<readonly string[]> {
  const events = await driven.use(Alerts).history(100);
  return events.map(({ title }: AlertEvent) => title).reverse();
}

const finding = (level: number, more: Partial<Finding> = {}): Finding => ({
  facts: {},
  ...{ subject: 'budget key 7', kind: 'budget', level, periodMs: 0, resetsMs: undefined },
  ...{ title: `level ${level}`, text: '', accountId: undefined, againMs: undefined, ...more },
});

describe('conditions', () => {
  it('are told when they begin, once a day while they last, and when they end', async () => {
    await driven.start();
    await pass(MINUTE_MS);
    assert.deepEqual(await told(), []);
    free = 5;
    await pass(MINUTE_MS);
    assert.deepEqual(await told(), ['The disk is nearly full']);
    await pass(DAY_MS - 5 * MINUTE_MS);
    assert.equal((await told()).length, 1);
    await pass(10 * MINUTE_MS);
    assert.equal((await told()).length, 2);
    free = 50;
    await pass(MINUTE_MS);
    assert.deepEqual((await told()).at(-1), 'Over: The disk is nearly full');
    assert.deepEqual(await driven.use(Alerts).open(), []);
    await driven.stop();
  });

  it('that come and go are told at most once an hour', async () => {
    await driven.start();
    for (let minute = 0; minute < 50; minute += 2) {
      free = minute % 4 === 0 ? 5 : 50;
      await pass(2 * MINUTE_MS);
    }
    assert.deepEqual(await told(), ['The disk is nearly full', 'Over: The disk is nearly full']);
    free = 5;
    await pass(HOUR_MS);
    assert.equal((await told()).length, 3);
    await driven.stop();
  });

  it('are a failed backup, an overdue one, and a price that differs', async () => {
    await driven.start();
    drift = [{ field: 'input', configured: '1', published: '2', percent: -50 }];
    const failed = { atMs: 0, name: '', bytes: undefined, tookMs: 1, reason: 'no space left', proof: undefined };
    schedule = { ...schedule, failed };
    await pass(MINUTE_MS);
    assert.deepEqual([...(await told())].sort(), ['The backup failed', 'The price of "m" differs from the list price']);
    const [event] = (await driven.use(Alerts).history(100)).filter(({ kind }) => kind === 'price');
    assert.equal(event?.text, 'input: 1, published 2 (list 1).');
    schedule = { ...schedule, failed: undefined };
    await pass(MINUTE_MS);
    assert.equal((await told()).at(-1), 'Over: The backup failed');
    await pass(2 * DAY_MS);
    assert.equal((await told()).filter((title) => title === 'The backup is overdue').length, 1);
    await driven.stop();
  });
});

describe('the book', () => {
  it('has one event for each level of a period, however many processes find it at once', async () => {
    const books = Array.from({ length: 3 }, () => createBook({ store, clock }, async () => ['webhook']));
    for (const level of [0, 50, 50, 95, 80, 95]) await Promise.all(books.map((book) => book.note(finding(level))));
    const levels = async (): Promise<readonly number[]> =>
      (await books[0]!.history(100)).map(({ level }) => level).sort();
    // Eighty is below what was told; ninety-five is reached again after the limit was raised.
    assert.deepEqual(await levels(), [50, 95, 95]);
    await Promise.all(books.map((book) => book.note(finding(50, { periodMs: DAY_MS }))));
    assert.deepEqual(await levels(), [50, 50, 95, 95]);
  });

  it('lists nothing of a period that is over, and keeps events for ninety days', async () => {
    const book = createBook({ store, clock }, async () => ['webhook']);
    await book.note(finding(50, { periodMs: clock.now(), resetsMs: clock.now() + HOUR_MS }));
    assert.equal((await book.open()).length, 1);
    clock.advance(HOUR_MS);
    assert.deepEqual(await book.open(), []);
    clock.advance(90 * DAY_MS);
    await book.tidy();
    assert.deepEqual(await book.history(10), []);
    assert.equal((await book.waiting()).size, 0);
  });
});

describe('delivery', () => {
  it('keeps the latest 200 events for a target that is away, and gives up after two days', async () => {
    const book = createBook({ store, clock }, async () => ['webhook']);
    for (let i = 0; i < 230; i++) {
      clock.advance(1);
      await book.note(finding(50, { subject: `budget key ${i}` }));
    }
    const warnings: string[] = [];
    const log = { warn: (message: string) => void warnings.push(message), info() {} } as never;
    const away = async (): Promise<void> => Promise.reject(new Error('away'));
    const delivery = createDelivery({ clock, log }, book, async () => away);
    const states = async () => {
      const deliveries = (await book.history(300)).flatMap((event) => event.deliveries);
      return ['waiting', 'failed'].map((state) => deliveries.filter((each) => each.state === state).length);
    };
    const run = async (): Promise<void> => {
      await delivery.run();
      for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    await run();
    assert.deepEqual(await states(), [200, 30]);
    assert.equal(delivery.problemOf('webhook'), 'away');
    for (let hour = 0; hour < 72; hour++) {
      clock.advance(HOUR_MS);
      await run();
    }
    assert.deepEqual(await states(), [180, 50]);
    assert.equal(warnings.length, 1);
    await delivery.stop();
  });
});

describe('levels', () => {
  it('are the highest that is reached; a budget that refuses calls and is nearly used is used up', () => {
    const levels = [50, 80, 95, 100];
    const at = (used: bigint, isRefusing = false): number => levelOf({ limit: 1_000n, used, isRefusing }, levels);
    assert.deepEqual(
      [0n, 499n, 500n, 799n, 949n, 950n, 1_000n, 5_000n].map((used) => at(used)),
      [...[0, 0, 50, 50, 80, 95, 100, 100]],
    );
    assert.deepEqual([at(949n, true), at(950n, true)], [80, 100]);
    assert.equal(levelOf({ limit: 0n, used: 0n, isRefusing: true }, levels), 0);
  });
});

describe('the quiet time', () => {
  it('is the same part of every day of its zone, also over midnight', () => {
    const quiet = quietTime('22:00-07:00', 'Europe/Berlin')!;
    const at = (text: string): boolean => quiet(Date.parse(text));
    // Winter is UTC+1, summer UTC+2.
    assert.deepEqual(['2026-01-10T20:59Z', '2026-01-10T21:00Z', '2026-01-11T05:59Z', '2026-01-11T06:00Z'].map(at), [
      ...[false, true, true, false],
    ]);
    assert.deepEqual(['2026-07-10T19:59Z', '2026-07-10T20:00Z', '2026-07-11T04:59Z', '2026-07-11T05:00Z'].map(at), [
      ...[false, true, true, false],
    ]);
    assert.equal(quietTime('', 'UTC'), undefined);
    assert.deepEqual(['Europe/Berlin', 'UTC', 'Mars/Phobos'].map(isZone), [true, true, false]);
  });

  it('lasts as long as the text says, whenever it begins', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_439 }), fc.integer({ min: 1, max: 1_439 }), (from, length) => {
        const time = (minute: number): string => new Date((minute % 1_440) * MINUTE_MS).toISOString().slice(11, 16);
        const quiet = quietTime(`${time(from)}-${time(from + length)}`, 'UTC')!;
        const minutes = Array.from({ length: 1_440 }, (_, minute) => quiet(minute * MINUTE_MS)).filter(Boolean).length;
        assert.equal(minutes, length);
        assert.ok(quiet(from * MINUTE_MS));
      }),
      { numRuns: 20 },
    );
  });
});

it('a message to a chat has no mention and no link, whatever the names of keys contain', async () => {
  const texts: string[] = [];
  const receiver = createServer(async (request, response) => {
    const { text, content } = (await json(request)) as { text?: string; content?: { text: string } };
    texts.push(text ?? content!.text);
    response.end('{}');
  }).listen(0);
  try {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const host = { find: () => undefined, log: { hide: () => {} }, clock, fetch } as unknown as Host;
    const sent = { id: '1', atMs: 0, kind: 'budget', subject: 's', level: 80, isOver: false, title: 't' } as const;
    const [slack, feishu] = targetsOf(host, [
      { slack: url, secret: '' },
      { feishu: url, secret: '' },
    ]);
    const { signal } = new AbortController();
    await slack!.send([{ ...sent, text: '<!channel> <https://evil.example|pay & win>' }], signal);
    await slack!.send([{ ...sent, title: 'key @all', text: '![pay](https://evil.example) [win][1] [1]: x' }], signal);
    await feishu!.send([{ ...sent, text: '<at user_id="all"></at>' }], signal);
    assert.ok(texts[0]!.includes('&lt;!channel&gt; &lt;https://evil.example|pay &amp; win&gt;'), texts[0]);
    assert.doesNotMatch(texts[1]!, /@[a-z]|\][([:]/);
    assert.equal(texts[1]!.replaceAll('\u200b', '').includes('![pay](https://evil.example) [win][1] [1]: x'), true);
    assert.ok(!texts[2]!.includes('<'), texts[2]);
  } finally {
    receiver.close();
  }
});
