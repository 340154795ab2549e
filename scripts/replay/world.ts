/** The world of a replay: one real gateway, one mock vendor, and a channel for every answer. */
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../test/kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../test/kit/vendors/fake-vendor.ts';
import { errorAnswer, type Script } from '../../test/kit/vendors/script.ts';
import { type Client, createClient } from './client.ts';
import type { VendorStyle } from './folder.ts';

/** One upstream: a channel with a model of the same name. */
export interface Upstream {
  readonly name: string;
  readonly style: VendorStyle;
  /** The vendor's name for the model. */
  readonly model: string;
}

export interface World {
  readonly client: Client;
  /** Sets the answer of the vendor behind this channel. */
  answers(upstream: string, script: Script): void;
  /** The last request it received. */
  asked(upstream: string): { readonly path: string; readonly body: JsonObject } | undefined;
  /** The recorded tokens and charges, by request id. */
  records(): ReadonlyMap<string, UsageRecord>;
  /** Violations of the gateway's invariants. */
  reconcile(): Promise<string | undefined>;
  /** Stops everything; fails if the ledger does not balance. */
  stop(): Promise<void>;
}

/** The record of one request. */
export interface UsageRecord {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
  readonly estimated: boolean;
  /** Micro-quota. */
  readonly charged: number;
}

/** The vendors of each style. */
const VENDORS: Readonly<Record<VendorStyle, JsonObject>> = {
  chat: { vendor: 'compatible', speaks: ['chat'] },
  responses: { vendor: 'compatible', speaks: ['responses'] },
  messages: { vendor: 'anthropic' },
  gemini: { vendor: 'gemini' },
};
/** Of every model, in currency units per million tokens. Tools of vendors are free, which otherwise cost their list prices. */
export const PRICE = {
  input: 1,
  output: 2,
  cacheRead: 0.25,
  cacheWrite: 1.5,
  reasoning: 3,
  perUse: { web_search: 0 },
};

/** Starts it. */
export async function openWorld(upstreams: readonly Upstream[]): Promise<World> {
  const scripts = new Map<string, Script>();
  const requests = new Map<string, { readonly path: string; readonly body: JsonObject }>();
  const vendor: FakeVendor = await fakeVendor((request) => {
    const [, name = '', ...path] = request.path.split('/');
    requests.set(name, { path: `/${path.join('/')}`, body: request.json });
    return scripts.get(name) ?? errorAnswer(404, `No answer is set for ${name}.`);
  });
  const gateway: TestGateway = await startGateway({
    config: configFor(upstreams, `http://127.0.0.1:${vendor.port}`),
  });
  const client = createClient(gateway.port, gateway.key);

  return {
    client,
    answers: (upstream, script) => void scripts.set(upstream, script),
    asked: (upstream) => requests.get(upstream),
    records: () => readRecords(gateway),
    async reconcile() {
      const { code, stdout, stderr } = await gateway.tryCommand('reconcile');
      return code === 0 ? undefined : `${stdout}${stderr}`.trim();
    },
    async stop() {
      client.close();
      try {
        await gateway.stop();
      } finally {
        await vendor.close();
      }
    },
  };
}

function configFor(upstreams: readonly Upstream[], url: string): Readonly<Record<string, unknown>> {
  const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
  const plugins = upstreams.map(({ style }) => `vendors/${String(VENDORS[style].vendor)}`);
  const config = {
    pipeline: [...new Set([...pipeline, ...plugins])],
    // All vendor-side tools of recorded requests are allowed.
    quota: { unpriced: 'free' },
    channels: upstreams.map(({ name, style }) => ({ name, key: VENDOR_KEY, url: `${url}/${name}`, ...VENDORS[style] })),
    models: Object.fromEntries(upstreams.map(({ name, model }) => [name, { from: [{ [name]: model }], price: PRICE }])),
  };
  // YAML would write a repeated value as an alias, and a file with too many aliases is refused.
  return JSON.parse(JSON.stringify(config)) as typeof config;
}

function readRecords(gateway: TestGateway): ReadonlyMap<string, UsageRecord> {
  return new Map(
    gateway.rows('SELECT * FROM usage_record').map((row) => [
      String(row.id),
      {
        input: Number(row.input),
        cacheRead: Number(row.cache_read),
        cacheWrite: Number(row.cache_write) + Number(row.cache_write_long),
        output: Number(row.output),
        reasoning: Number(row.reasoning),
        estimated: row.estimated === 1,
        charged: Number(row.charged),
      },
    ]),
  );
}
