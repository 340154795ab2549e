/** For `turnpike doctor`: do the vendors respond and accept the keys, and is the clock right? */
import type { Catalog } from '../../core/contracts/catalog.ts';
import type { Channel, Diagnosis, Host } from '../../core/plugin.ts';
import type { Channels, Configured } from './channels.ts';
import { MODEL_LIST, meaningOf } from './probe.ts';

/** Examines all channels at once, and the clock by the first vendor that can be reached. */
export async function diagnose(host: Host, channels: Channels, probe: Catalog['probe']): Promise<readonly Diagnosis[]> {
  const found = await Promise.all(channels.all.map((configured) => examine(host, configured, probe)));
  const places = channels.all.filter((each) => !each.off && !isBuiltIn(each)).map(({ channel }) => channel.url);
  return [...found, ...(await clockBy(host, places))];
}

/** It has an address only while the gateway runs. */
const isBuiltIn = ({ channel, vendor }: Configured): boolean => vendor.keyless === true && channel.key === '';

async function examine(host: Host, configured: Configured, probe: Catalog['probe']): Promise<Diagnosis> {
  const { channel, off, vendor } = configured;
  const topic = `channel ${channel.name}`;
  if (off) return { topic, level: 'ok', text: 'it is off: its key is empty' };
  if (isBuiltIn(configured) && vendor.url !== undefined) return { topic, level: 'ok', text: 'the vendor is built in' };
  const { ok, message, cost } = await test(host, channel, probe);
  if (!ok) {
    const advice = 'correct `url` and `key` of the channel in gateway.yaml, or see the status page of the vendor';
    return { topic, level: 'problem', text: message, advice };
  }
  return { topic, level: 'ok', text: cost ? `${message} (a test call, at your expense)` : message };
}

interface Tested {
  readonly ok: boolean;
  readonly message: string;
  /** The vendor charges for it. */
  readonly cost: boolean;
}

/**
 * Requests the vendor's list of models, which is free; only if that does not prove anything, because there is none or
 * it is public, the test call of the console is made.
 */
async function test(host: Host, channel: Channel, probe: Catalog['probe']): Promise<Tested> {
  const listWith = async (key: string) => (await host.ask({ ...channel, key }, MODEL_LIST)).status;
  try {
    const status = await listWith(channel.key);
    if (status === 401 || status === 403) return { ok: false, message: meaningOf(status), cost: false };
    if (isSuccess(status) && (channel.key === '' || !isSuccess(await listWith(NO_KEY))))
      return { ok: true, message: 'it answers and accepts the key', cost: false };
  } catch {
    // The test call says why.
  }
  const { ok, message } = await probe(channel.name);
  return { ok, message: ok ? 'it answers and accepts the key' : message, cost: ok };
}

/** No vendor accepts it. */
const NO_KEY = 'turnpike-doctor';
const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const CLOCK_MS = 5_000;
const WARN_MS = 10_000;
const WRONG_MS = 60_000;

/** Compares the clock with the `Date` header of the first address that sends one; empty: none does. */
async function clockBy({ clock }: Host, addresses: readonly string[]): Promise<readonly Diagnosis[]> {
  for (const origin of new Set(addresses.map((address) => new URL(address).origin))) {
    try {
      const sentMs = clock.now();
      const { headers } = await fetch(origin, {
        method: 'HEAD',
        redirect: 'manual',
        signal: AbortSignal.timeout(CLOCK_MS),
      });
      const date = Date.parse(headers.get('date') ?? '');
      // The header has whole seconds.
      const offMs = (sentMs + clock.now()) / 2 - (date + 500);
      if (Number.isFinite(offMs)) return [clockDiagnosis(offMs, new URL(origin).host)];
    } catch {
      // Another address is asked.
    }
  }
  return [];
}

function clockDiagnosis(offMs: number, host: string): Diagnosis {
  const off = Math.abs(Math.round(offMs / 1_000));
  const side = offMs > 0 ? 'fast' : 'slow';
  if (Math.abs(offMs) < WARN_MS) return { topic: 'clock', level: 'ok', text: `it agrees with ${host}` };
  return {
    topic: 'clock',
    level: Math.abs(offMs) < WRONG_MS ? 'warning' : 'problem',
    text: `it is ${off} s ${side}, compared with ${host}: authenticator codes and signed requests can fail`,
    advice: 'synchronize the clock of this machine (systemd-timesyncd, chrony)',
  };
}
