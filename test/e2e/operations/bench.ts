/** A gateway between a raw client and vendors that misbehave, with the time in the test's hands; and what its books say. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '../../../core/plugin.ts';
import { requestText } from '../../kit/clients/raw-client.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { type ChatUsage, chatRequest } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway, type TestGatewayOptions, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { until } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

export const CHAT_PATH = '/v1/chat/completions';
/** What turns a call into a stream that tells its usage. */
export const STREAMED = { stream: true, stream_options: { include_usage: true } } as const;

export interface Bench {
  readonly gateway: TestGateway;
  /** Behind the channel `main`. */
  readonly vendor: FakeVendor;
  readonly clock: FakeClock;
  stop(): Promise<void>;
}

/** Starts one. `vendors`: behind `main`, `spare`, …; one by default. */
export async function openBench(
  options: Omit<TestGatewayOptions, 'vendor' | 'clock'> & { readonly vendors?: readonly FakeVendor[] } = {},
): Promise<Bench> {
  const { vendors = [await fakeVendor()], ...rest } = options;
  const clock = fakeClock();
  const gateway = await startGateway({ ...rest, vendor: vendors, clock });
  return {
    gateway,
    vendor: vendors[0]!,
    clock,
    async stop() {
      // A call that hangs keeps the gateway waiting: its drain goes by the clock, and the clock by hand.
      const hurry = setInterval(() => clock.advance(60_000), 1_000);
      const patience = new AbortController();
      const late = setTimeout(60_000, 'late', { signal: patience.signal }).catch(() => 'stopped');
      try {
        assert.notEqual(
          await Promise.race([gateway.stop(), late]),
          'late',
          'the gateway waits for an exchange without end',
        );
      } finally {
        clearInterval(hurry);
        patience.abort();
        for (const vendor of vendors) await vendor.close();
      }
    },
  };
}

/** The headers that every call has. */
export function callHeaders(gateway: Pick<TestGateway, 'key'>): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
}
/** A call of at most 16 output tokens, as bytes. */
export function callText(gateway: Pick<TestGateway, 'key'>, more: JsonObject = {}): Buffer {
  const body = JSON.stringify(chatRequest({ model: 'test-model', max_tokens: 16, ...more }));
  return requestText('POST', CHAT_PATH, callHeaders(gateway), body);
}

/** What tokens cost at `test-model`, in micro-quota: 1 and 2 currency units per million. */
export function cost({ prompt, completion }: ChatUsage): bigint {
  return BigInt(prompt) * 500_000n + BigInt(completion) * 1_000_000n;
}
/** What our own count of a record's tokens costs; fails where the vendor counted. */
export function countedCost({ input, output, estimated }: UsageRow): bigint {
  assert.equal(estimated, true, 'the gateway counted');
  return cost({ prompt: input ?? 0, completion: output ?? 0 });
}
/** Tokens that we count for a text. */
export function countedTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/**
 * The records beyond the first `known`, once there are so many: a client that has left can no longer be told, only the
 * books tell.
 */
export async function recordsAfter(gateway: TestGateway, known: number, count = 1): Promise<readonly UsageRow[]> {
  await until(`there are ${count} new usage records`, () => countRecords(gateway) >= known + count, gateway);
  const records = usageRecords(gateway.storeFile).slice(known);
  assert.equal(records.length, count);
  return records;
}
export function countRecords({ storeFile }: TestGateway): number {
  return usageRecords(storeFile).length;
}

/** Whatever a vendor or a client does is no accident of the gateway's, and no reason to write down secrets. */
export function checkLog({ log, key }: TestGateway): void {
  const accidents = log.filter((line) => /"level":"(error|fatal)"/.test(line));
  assert.deepEqual(
    accidents.filter((line) => !line.includes('does not accept the key')),
    [],
  );
  assert.deepEqual(
    log.filter((line) => line.includes(VENDOR_KEY) || line.includes(key)),
    [],
  );
}
