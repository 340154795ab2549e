/** Rows add up: calls that cost less than a quota unit, in every list, sum and file. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const CALLS = 5;

describe('calls of half a quota unit each', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let ann: Visitor;
  let boss: Visitor;
  let key: string;
  before(async () => {
    vendor = await fakeVendor();
    const models = { half: { from: ['main'], price: { input: 1, output: 0 } } };
    gateway = await startGateway({
      vendor,
      config: { pipeline: CONSOLE_PIPELINE, console: PATIENT, models },
      env: ROOT_ENV,
    });
    ann = await member(gateway, 'ann', { units: 1_000_000 });
    boss = await verify(await root(gateway));
    key = (await ann.data('POST', '/api/token/', { name: 'cli', remain_quota: 100_000 })).key;
    // A token of input is half a unit.
    for (let i = 0; i < CALLS; i++) {
      vendor.next(wholeAnswer({ usage: { prompt: 1, completion: 0 } }));
      await (await gateway.chat({ model: 'half', max_tokens: 5 }, { key })).text();
    }
    vendor.next(errorAnswer(400));
    await (await gateway.chat({ model: 'half', max_tokens: 5 }, { key })).text();
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  it('stand in the log with what they cost, in quota and in currency', async () => {
    const { items } = await ann.data('GET', '/api/log/self?type=2');
    assert.deepEqual(
      items.map(({ quota, cost }: { quota: number; cost: string }) => [quota, cost]),
      Array(CALLS).fill([0.5, '0.000001']),
    );
  });

  it('come to the same in every sum', async () => {
    const stat = await ann.data('GET', '/api/log/self/stat?token_name=cli');
    assert.deepEqual([stat.quota, stat.cost], [2.5, '0.000005']);
    const { total, items } = await ann.data('GET', '/api/usage/self/sums');
    assert.deepEqual([total.quota, items[0].quota, items[0].cost], [2.5, 2.5, '0.000005']);
    const { data } = (await visitor(gateway, { authorization: `Bearer ${key}` }).get('/api/usage/token/')).body;
    assert.deepEqual([data.total_granted, data.total_used, data.total_available], [100_000, 2.5, 99_997.5]);
  });

  it('are counted in the own profile, refused ones among them', async () => {
    assert.equal((await ann.data('GET', '/api/user/self')).request_count, CALLS + 1);
  });

  /** Lines of a file without the empty cells at their ends. */
  const linesOf = async (who: Visitor, path: string): Promise<readonly string[]> =>
    (await who.get(path)).text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.replace(/,+$/, ''));

  it('add up in the file of the log, which says its period, its filters and its units', async () => {
    const lines = await linesOf(ann, '/api/log/self?format=csv&type=2&start_timestamp=1577836800&token_name=cli');
    assert.match(lines[0]!, /^created_at,type,username,token_name,model_name,quota,cost,prompt_tokens,/);
    for (const line of lines.slice(1, CALLS + 1)) assert.match(line, /Z,2,ann,cli,half,0\.5,0\.000001,1,/);
    assert.deepEqual(lines.slice(CALLS + 1), [
      `total,,,,,2.5,0.000005,,,,,,,,,${CALLS}`,
      'period (UTC),2020-01-01T00:00:00.000Z,to the last line',
      'filter type,2',
      'filter token_name,cli',
      'unit,quota: 500000 are one currency unit; cost: currency units',
    ]);
  });

  it('add up in the files of usage and team, which count calls as the console does', async () => {
    const range = 'start_timestamp=1577836800&end_timestamp=1577836900';
    const id = (await ann.data('GET', '/api/user/self')).id;
    const lines = await linesOf(boss, '/api/usage/sums?format=csv&group_by=account&model=half');
    assert.deepEqual(lines.slice(0, 3), [
      'group,name,calls,errors,quota,cost,prompt_tokens,completion_tokens',
      `${id},ann,6,1,2.5,0.000005,5,0`,
      'total,,6,1,2.5,0.000005,5,0',
    ]);
    assert.match(lines[3]!, /^period \(UTC\),\d{4}-[^,]+Z,\d{4}-[^,]+Z$/);
    assert.deepEqual(lines.slice(4), [
      'filter model,half',
      'unit,quota: 500000 are one currency unit; cost: currency units',
    ]);
    const members = await linesOf(boss, '/api/team/members?format=csv');
    assert.match(members[1]!, /,6,1,2\.5,0\.000005,5,0$/);
    assert.match(members[2]!, /^total,,,,,6,1,2\.5,0\.000005,5,0$/);
    const none = await linesOf(boss, `/api/team/models?format=csv&${range}`);
    assert.match(none[1]!, /^total,0,0,0,0,0,0$/);
  });
});
