/** Newer list prices: compared, taken over from a time on, by command and by rule; implausible lists are refused. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Provider, waitForUpdate } from '@pydantic/genai-prices';
import { Audit } from '../../../core/contracts/audit.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { until as eventually } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { atHead, hold, wholeAnswer } from '../../kit/vendors/script.ts';

/** The fake vendor's answer has 11 input and 7 output tokens; 500,000 units are one dollar. */
const costAt = (input: number, output: number): string => String((11 * input + 7 * output) / 2);
const LEAD_MS = 120_000;

let vendor: FakeVendor;
let server: Server;
let url: string;
/** What the server publishes. */
let published: string;
let shipped: Provider[];

before(async () => {
  vendor = await fakeVendor();
  shipped = (await waitForUpdate())!;
  server = createServer((_, answer) => void answer.end(published)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices.json`;
});
after(async () => {
  server.close();
  await vendor.close();
});
beforeEach(() => publish({}));

type Rates = Record<string, unknown>;

/** Publishes the shipped list with other rates of some models of one provider. */
function publish(changes: Readonly<Record<string, Rates>>, edit: (providers: Provider[]) => void = () => {}): void {
  const providers = structuredClone(shipped);
  for (const [name, rates] of Object.entries(changes)) Object.assign(modelOf(providers, name).prices, rates);
  edit(providers);
  published = JSON.stringify(providers);
}

function publishText(text: string): void {
  published = text;
}

function modelOf(providers: readonly Provider[], name: string) {
  return providers.find(({ id }) => id === 'openai')!.models.find(({ id }) => id === name)!;
}

const start = (updates: object, clock: FakeClock, dir?: string): Promise<TestGateway> =>
  startGateway({
    clock,
    ...(dir !== undefined && { dir }),
    config: {
      pipeline: [...(defaultConfig([]).pipeline as string[]), 'audit'],
      prices: { updates: { from: url, ...updates } },
      channels: [{ name: 'list', vendor: 'openai', url: vendor.url, key: VENDOR_KEY }],
      models: {
        'gpt-4o': { from: ['list'] },
        'gpt-4o-mini': { from: ['list'] },
        'gpt-99': { from: ['list'] },
        own: { from: [{ list: 'gpt-4.1' }], price: { input: 1 } },
      },
    },
  });
const costOf = async (gateway: TestGateway, model = 'gpt-4o'): Promise<string | null> => {
  const answer = await gateway.chat({ model });
  assert.equal(answer.status, 200, await answer.text());
  return answer.headers.get('x-turnpike-cost');
};

describe('a newer price list', () => {
  it('is compared first: old, new and percent of models that are sold; nothing is taken over', async () => {
    publish({ 'gpt-4o': { input_mtok: 5 }, 'gpt-4.1': { input_mtok: 3 } });
    const clock = fakeClock();
    const gateway = await start({}, clock);
    const told = await gateway.command('prices update --dry-run');
    assert.match(told, /openai gpt-4o +input +2\.5 +5 +\+100 %/);
    assert.match(told, /1 changes of models that are not sold at list prices/);
    assert.match(told, /nothing was taken over/);
    clock.advance(LEAD_MS);
    assert.equal(await costOf(gateway), costAt(2.5, 10));
    assert.match(await gateway.command('prices history'), /no published prices were taken over/);
    await gateway.stop();
  });

  it('that is taken over is valid from a time on: calls that began before cost what they cost, also when they end later', async () => {
    publish({ 'gpt-4o': { input_mtok: 5 } });
    const clock = fakeClock();
    const gateway = await start({}, clock);
    const key = await gateway.customer(1_000_000);
    vendor.next([atHead(), hold('slow'), ...wholeAnswer()]);
    const begun = gateway.chat({ model: 'gpt-4o' }, { key });
    await vendor.waitFor(() => vendor.inFlight === 1);
    assert.match(
      await gateway.command('prices update'),
      /1 changes were taken over; they are valid from 2026-01-01T00:02:00/,
    );
    assert.equal(await costOf(gateway), costAt(2.5, 10));
    clock.advance(LEAD_MS);
    vendor.release('slow');
    assert.equal((await begun).headers.get('x-turnpike-cost'), costAt(2.5, 10));
    assert.equal(await costOf(gateway), costAt(5, 10));
    assert.equal(await costOf(gateway, 'gpt-4o-mini'), costAt(0.15, 0.6));
    assert.match(
      await gateway.command('prices history'),
      /2026-01-01 00:02 +openai +gpt-4o +2026-01-01 00:00 +command line/,
    );
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'prices.update' });
    assert.deepEqual([entry?.actor.name, entry?.facts.count], ['command line', 1]);
    // Compared with what applies now, nothing is left.
    assert.match(await gateway.command('prices update --dry-run'), /has no other prices/);
    await gateway.stop();
  });

  it('stays in the store over a restart, and a new model is sold at its price', async () => {
    publish({ 'gpt-4o': { input_mtok: 5 } }, (providers) => {
      const openai = providers.find(({ id }) => id === 'openai')!;
      openai.models.push({ id: 'gpt-99', match: { equals: 'gpt-99' }, prices: { input_mtok: 7, output_mtok: 8 } });
    });
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-prices-'));
    const clock = fakeClock();
    const first = await start({}, clock, dir);
    const key = await first.command('key create --name after --unlimited');
    assert.equal((await first.chat({ model: 'gpt-99' }, { key })).status, 402);
    await first.command('prices update');
    await first.stop();
    clock.advance(LEAD_MS);
    const second = await start({}, clock, dir);
    for (const [model, cost] of [
      ['gpt-4o', costAt(5, 10)],
      ['gpt-99', costAt(7, 8)],
    ] as const) {
      const answer = await second.chat({ model }, { key });
      assert.deepEqual([answer.status, answer.headers.get('x-turnpike-cost')], [200, cost]);
    }
    await second.stop();
    rmSync(dir, { recursive: true });
  });

  it('can be a file, and be valid from a later time', async () => {
    publish({ 'gpt-4o': { output_mtok: 20 } });
    const clock = fakeClock();
    const gateway = await start({}, clock);
    writeFileSync(join(gateway.dir, 'list.json'), published);
    const at = '2026-01-01T01:00:00.000Z';
    assert.match(await gateway.command(`prices update --from list.json --at ${at}`), new RegExp(`valid from ${at}`));
    clock.advance(LEAD_MS);
    assert.equal(await costOf(gateway), costAt(2.5, 10));
    clock.advance(3_600_000);
    assert.equal(await costOf(gateway), costAt(2.5, 20));
    await gateway.stop();
  });
});

describe('a price list that cannot be right', () => {
  const cases: readonly (readonly [string, RegExp, () => void])[] = [
    ['is not JSON', /the list is not JSON/, () => publishText('<html>')],
    ['is something else', /the list is not a list of providers/, () => publishText('{"prices":{}}')],
    [
      'has a negative amount',
      /the list has -1 as input of openai gpt-4\.1/,
      () => publish({ 'gpt-4.1': { input_mtok: -1 } }),
    ],
    [
      'has a text as amount',
      /the list has "2" as output of openai gpt-4\.1/,
      () => publish({ 'gpt-4.1': { output_mtok: '2' } }),
    ],
    [
      'changes a model that is sold too much',
      /changes input of openai gpt-4o from 2\.5 to 25, which is more than 300 %/,
      () => publish({ 'gpt-4o': { input_mtok: 25 } }),
    ],
    [
      'makes a model that is sold free',
      /changes output of openai gpt-4o from 10 to 0/,
      () => publish({ 'gpt-4o': { output_mtok: 0 } }),
    ],
    [
      'has fewer models',
      /the list has only \d+ of the \d+ known models/,
      () =>
        publish({}, (providers) => {
          for (const provider of providers) provider.models.splice(0, provider.models.length >> 1);
        }),
    ],
  ];
  for (const [what, expected, arrange] of cases) {
    it(`because it ${what} is refused as a whole, and prices stay`, async () => {
      const clock = fakeClock();
      const gateway = await start({}, clock);
      arrange();
      const { code, stderr } = await gateway.tryCommand('prices update');
      assert.equal(code, 1);
      assert.match(stderr, expected);
      clock.advance(LEAD_MS);
      assert.equal(await costOf(gateway), costAt(2.5, 10));
      await gateway.stop();
    });
  }

  it('in entries that are not sold leaves these out: a wild change, and a new regular expression', async () => {
    publish({ 'gpt-4.1': { input_mtok: 5_000 }, 'gpt-4o': { input_mtok: 2 } }, (providers) => {
      const openai = providers.find(({ id }) => id === 'openai')!;
      openai.models.push({ id: 'evil', match: { regex: '^(a+)+$' }, prices: { input_mtok: 1 } });
    });
    const gateway = await start({}, fakeClock());
    const told = await gateway.command('prices update');
    assert.match(told, /openai gpt-4\.1: input changes from 2 to 5000/);
    assert.match(told, /openai evil: its names are a new regular expression/);
    assert.match(told, /1 changes were taken over/);
    await gateway.stop();
  });
});

describe('the scheduled check', () => {
  const changed = (): void => publish({ 'gpt-4o': { input_mtok: 2 }, 'gpt-4o-mini': { input_mtok: 0.3 } });
  const logged = ({ log }: TestGateway, text: string): boolean => log.some((line) => line.includes(text));
  const until = (holds: () => boolean) => eventually('the check has told its result', holds);
  const NOT_TAKEN = 'has changes that were not taken over';

  it('with `apply: decreases` takes over what only falls, and logs that there is more', async () => {
    changed();
    const clock = fakeClock();
    const gateway = await start({ every: '1h', apply: 'decreases' }, clock);
    clock.advance(3_600_000);
    await until(() => logged(gateway, NOT_TAKEN));
    clock.advance(LEAD_MS);
    assert.equal(await costOf(gateway), costAt(2, 10));
    assert.equal(await costOf(gateway, 'gpt-4o-mini'), costAt(0.15, 0.6));
    assert.match(await gateway.command('prices history'), / schedule$/m);
    await gateway.stop();
  });

  it('with `apply: none` only logs', async () => {
    changed();
    const clock = fakeClock();
    const gateway = await start({ every: '1h' }, clock);
    clock.advance(3_600_000);
    await until(() => logged(gateway, NOT_TAKEN));
    clock.advance(LEAD_MS);
    assert.equal(await costOf(gateway), costAt(2.5, 10));
    await gateway.stop();
  });

  it('with `apply: all` takes over everything', async () => {
    changed();
    const clock = fakeClock();
    const gateway = await start({ every: '1h', apply: 'all' }, clock);
    clock.advance(3_600_000);
    await until(() => logged(gateway, 'published prices were taken over'));
    clock.advance(LEAD_MS);
    assert.equal(await costOf(gateway), costAt(2, 10));
    assert.equal(await costOf(gateway, 'gpt-4o-mini'), costAt(0.3, 0.6));
    await gateway.stop();
  });
});
