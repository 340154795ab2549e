/** One gateway before one vendor that speaks all four shapes: what every client of this folder talks to. */

import type { Plugin, Sections } from '../../core/plugin.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import type { Scenario, SpeechName } from '../kit/speech.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { says } from '../kit/vendors/scenarios.ts';

/** The vendor kinds, and the model each is asked for. */
export const KINDS = {
  // A server whose models reason: without quirks, a model of an unknown name is asked for no effort, and gets no reasoning back.
  chat: { vendor: 'compatible', quirks: { reasoning: { input: 'effort', echo: 'none' } }, model: 'chat-model-1' },
  responses: { vendor: 'compatible', speaks: ['responses'], model: 'gpt-5.1' },
  messages: { vendor: 'anthropic', model: 'claude-sonnet-4-5' },
  gemini: { vendor: 'gemini', model: 'gemini-3.5-flash' },
} as const satisfies Readonly<Record<SpeechName, object>>;

export const KIND_NAMES = Object.keys(KINDS) as readonly SpeechName[];

export interface Stand {
  readonly gateway: TestGateway;
  readonly vendor: FakeVendor;
  /** For clients that add the path themselves. */
  readonly root: string;
  /** For those that do not. */
  readonly v1: string;
  readonly key: string;
  /**
   * The model of a vendor of this kind that has not been asked before: what is remembered against a channel after a failure
   * does not reach it.
   */
  fresh(kind: SpeechName): string;
  /** Queues these answers, in the shape in which they are asked for. */
  next(...scenarios: readonly Scenario[]): void;
  stop(): Promise<void>;
}

/** What the gateway calls the first model of a kind. */
export function modelOf(kind: SpeechName): string {
  return `${kind}-0`;
}

/** What a stand has beside. */
export interface StandOptions {
  /** Names of vendors' models instead of those of `KINDS`. */
  readonly models?: Readonly<Partial<Record<SpeechName, string>>>;
  /** Plugins of the test, and those that ship, by their names; these come first in the pipeline. */
  readonly plugins?: readonly Plugin<Sections>[];
  readonly ship?: readonly string[];
  /** Sections of gateway.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What models cost; without it they are free. */
  readonly price?: Readonly<Record<string, number>>;
}

/** `spares`: how many fresh models of each kind there are, beside the first. */
export async function openStand(spares = 0, options: StandOptions = {}): Promise<Stand> {
  const vendor = await fakeVendor(says(NOTHING, { key: VENDOR_KEY }));
  const counts = Array.from({ length: 1 + spares }, (_, i) => i);
  const each = KIND_NAMES.flatMap((kind) =>
    counts.map((i) => ({ name: `${kind}-${i}`, ...KINDS[kind], model: options.models?.[kind] ?? KINDS[kind].model })),
  );
  const { pipeline, ...rest } = defaultConfig([]) as { readonly pipeline: readonly string[] };
  const gateway = await startGateway({
    config: {
      ...rest,
      ...options.config,
      pipeline: [...new Set([...(options.ship ?? []), ...pipeline, 'vendors/anthropic', 'vendors/gemini'])],
      channels: each.map(({ model: _, ...channel }) => ({ ...channel, url: vendor.url, key: VENDOR_KEY })),
      models: Object.fromEntries(
        each.map(({ name, model }) => [
          name,
          { from: [{ [name]: model }], ...(options.price === undefined ? { free: true } : { price: options.price }) },
        ]),
      ),
    },
    ...(options.plugins !== undefined && { plugins: options.plugins }),
  }).catch(async (error: unknown) => {
    await vendor.close();
    throw error;
  });
  const used: Record<SpeechName, number> = { chat: 0, responses: 0, messages: 0, gemini: 0 };
  return {
    gateway,
    vendor,
    root: gateway.url,
    v1: `${gateway.url}/v1`,
    key: gateway.key,
    fresh(kind) {
      const i = ++used[kind];
      if (i > spares) throw new Error(`There are only ${spares} fresh models of the kind ${kind}.`);
      return `${kind}-${i}`;
    },
    next(...scenarios) {
      vendor.next(...scenarios.map((scenario) => says(scenario, { key: VENDOR_KEY })));
    },
    async stop() {
      try {
        await gateway.stop();
      } finally {
        await vendor.close();
      }
    },
  };
}

/** Nobody should come to hear this: every test queues what it wants. */
const NOTHING: Scenario = {
  text: ['Nobody told me what to say.'],
  end: 'stop',
  usage: { input: 1, cached: 0, output: 1, reasoning: 0 },
};
