/** Tags of calls: where they come from, and the spending by tag. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  advanced,
  CONSOLE_PIPELINE,
  checked,
  member,
  PATIENT,
  ROOT_ENV,
  signedIn,
  type Visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer } from '../../kit/vendors/script.ts';

const DAY_MS = 86_400_000;
/** A noon, so that the calls of a test are of one day. */
const NOW_MS = Date.UTC(2026, 8, 16, 12);

let vendor: FakeVendor;
let gateway: TestGateway;
let clock: FakeClock;
let ann: Visitor;
let boss: Visitor;
let key: string;
before(async () => {
  vendor = await fakeVendor();
  clock = fakeClock(NOW_MS);
  const config = { pipeline: CONSOLE_PIPELINE, console: PATIENT, log: { tags: ['project'] } };
  gateway = await startGateway({ vendor, clock, config, env: ROOT_ENV });
  ann = await member(gateway, 'ann', { units: 1_000_000 });
  await enter();
  ({ key } = await ann.data('POST', '/api/token/', { name: 'cli', unlimited_quota: true }));
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

/** Signs in; sessions end on the way to another day. */
async function enter(): Promise<void> {
  ann = await signedIn(gateway, 'ann');
  boss = await checked(gateway, await signedIn(gateway, 'root'));
}
/** Another day, without calls so far. */
async function anotherDay(): Promise<void> {
  await advanced(gateway, clock, DAY_MS);
  await enter();
}

async function call(headers: Record<string, string>, body: object = {}, secret = key): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });
  await response.text();
  return response.headers.get('x-request-id') ?? '';
}
const tagsOf = async (id: string): Promise<readonly string[] | undefined> =>
  (await ann.data('GET', `/api/log/self/detail/${id}`)).tags;
const tagged = (tags: string) => call({ 'x-turnpike-tags': tags });

/** Calls, errors and cost of each tag. */
async function byTag(who: Visitor, path: string, search = '') {
  const { items } = await who.data('GET', `${path}?group_by=tag${search}`);
  return Object.fromEntries(
    items.map((item: { group: string; requests: number; quota: number }) => [item.group, item.requests]),
  );
}

describe('tags of a call', () => {
  it('come from the header, from `metadata.tags`, and from the members of `metadata` that the configuration names', async () => {
    assert.deepEqual(await tagsOf(await tagged('team=a, job = b,plain')), ['team=a', 'job=b', 'plain']);
    assert.deepEqual(await tagsOf(await call({}, { metadata: { tags: ['x', 'y'] } })), ['x', 'y']);
    assert.deepEqual(await tagsOf(await call({}, { metadata: { tags: 'x, y' } })), ['x', 'y']);
    const metadata = { project: 'apollo', user_id: 'u-1', trace: '9f' };
    assert.deepEqual(await tagsOf(await call({ 'x-turnpike-tags': 'team=a' }, { metadata })), [
      'team=a',
      'project=apollo',
    ]);
    assert.deepEqual(await tagsOf(await call({}, { metadata: { user_id: 'u-1' } })), []);
    assert.deepEqual(await tagsOf(await call({})), []);
  });

  it('are at most eight of at most 64 characters; others are ignored, and the call is served', async () => {
    const many = Array.from({ length: 12 }, (_, i) => `t${i}`);
    assert.deepEqual(await tagsOf(await tagged(many.join(','))), many.slice(0, 8));
    assert.deepEqual(await tagsOf(await tagged(`${'x'.repeat(65)},ok,,ok, =`)), ['ok', '=']);
    assert.deepEqual(await tagsOf(await call({}, { metadata: { tags: ['a\u200bb', 'a,b', 7, 'fine'] } })), ['fine']);
  });

  it('leave the bytes for the vendor unchanged, and their header is not forwarded', async () => {
    const metadata = { tags: 'x', project: 'apollo', n: '1' };
    await call({ 'x-turnpike-tags': 'team=a' }, { metadata });
    const sent = vendor.requests.at(-1)!;
    assert.deepEqual(sent.json.metadata, metadata);
    assert.equal(sent.headers['x-turnpike-tags'], undefined);
  });

  it('sum up calls and cost by tag, exactly, and filter them', async () => {
    await anotherDay();
    const today = `&start_timestamp=${clock.now() / 1_000}`;
    for (const tags of ['team=a,job=b', 'team=a', 'team=c', 'team=a']) await tagged(tags);
    await call({});
    assert.deepEqual(await byTag(ann, '/api/usage/self/sums', today), { 'team=a': 3, 'job=b': 1, 'team=c': 1 });
    const { total, items } = await ann.data('GET', `/api/usage/self/sums?group_by=tag${today}`);
    assert.equal(total.requests, 5, 'the total is of all calls, tagged or not');
    const [dearest] = items;
    assert.deepEqual([dearest.group, dearest.quota], ['team=a', (total.quota / 5) * 3]);
    const ofA = await ann.data('GET', `/api/usage/self/sums?group_by=model&tag=team%3Da${today}`);
    assert.deepEqual(
      [ofA.total.requests, ofA.total.quota, ofA.items[0].group],
      [3, (total.quota / 5) * 3, 'test-model'],
    );
    const both = await ann.data('GET', `/api/usage/self/sums?group_by=tag&tag=nothing${today}`);
    assert.deepEqual([both.total.requests, both.items], [0, []]);
  });

  it('have a trend by day, with the rest of the tags combined', async () => {
    const today = `start_timestamp=${clock.now() / 1_000}`;
    const { items } = await ann.data('GET', `/api/usage/self/trend?group_by=tag&top=1&${today}`);
    assert.deepEqual(
      items.map((item: { group: string; requests: number }) => [item.group, item.requests]),
      [
        ['team=a', 3],
        [null, 2],
      ],
    );
  });

  it('are those of all users for administrators, and in the file', async () => {
    const bob = await member(gateway, 'bob', { units: 1_000_000 });
    const { key: other } = await bob.data('POST', '/api/token/', { name: 'cli', unlimited_quota: true });
    const today = `&start_timestamp=${clock.now() / 1_000}`;
    await call({ 'x-turnpike-tags': 'team=a' }, {}, other);
    assert.deepEqual(await byTag(bob, '/api/usage/self/sums', today), { 'team=a': 1 });
    assert.equal((await byTag(boss, '/api/usage/sums', today))['team=a'], 4);
    const { text } = await boss.get(`/api/usage/sums?group_by=tag&format=csv&tag=team%3Da${today}`);
    assert.match(text, /^group,name,calls/);
    assert.match(text, /\r\nteam=a,team=a,4,/);
    assert.match(text, /filter tag,team=a/);
  });

  it('count failed calls that reached a vendor as errors, and no refused ones', async () => {
    await anotherDay();
    const today = `&start_timestamp=${clock.now() / 1_000}`;
    vendor.next(...Array.from({ length: 10 }, () => errorAnswer(400)));
    await tagged('broken');
    vendor.forget();
    await call({ 'x-turnpike-tags': 'refused' }, { model: 'no such model' });
    const { items } = await ann.data('GET', `/api/usage/self/sums?group_by=tag${today}`);
    assert.deepEqual(
      items.map((item: { group: string; errors: number }) => [item.group, item.errors]),
      [['broken', 1]],
    );
  });

  it('share one sum beyond a thousand different ones of a user and day', async () => {
    await anotherDay();
    const today = `&start_timestamp=${clock.now() / 1_000}`;
    const free = (i: number) => call({ 'x-turnpike-tags': tagsFrom(i) }, { model: 'free-model' });
    const tagsFrom = (i: number) => Array.from({ length: 8 }, (_, n) => `id=${i * 8 + n}`).join(',');
    for (let i = 0; i < 126; i++) await free(i);
    const sums = await byTag(ann, '/api/usage/self/sums', today);
    assert.deepEqual([Object.keys(sums).length, sums['(further tags)'], sums['id=999']], [1_001, 1, 1]);
  });
});
