/**
 * List prices of models that are newer than the data of `genai-prices`, each from two sources that agree. An entry counts until the data has
 * a model of exactly its name.
 */
import type { PriceRow } from './price-row.ts';
import { type PublishedBeside, publishedBeside } from './published.ts';
import { type DatedRow, type PriceEntry, readPrice } from './section.ts';

/** A model, and where its price is from. */
interface NewestModel {
  readonly price: PriceEntry;
  /** In tokens. */
  readonly context: number;
  /** The vendor's page, and the day on which it was read. */
  readonly source: string;
}

const OPENAI = 'developers.openai.com/api/docs/models, 2026-11-28';
const ANTHROPIC = 'platform.claude.com/docs/en/about-claude/pricing, 2026-11-20';
const GOOGLE = 'ai.google.dev/gemini-api/docs/pricing, 2026-11-28';

/** Above this many input tokens, the whole call is charged at the higher rates. */
const LONG = 272_000;
const SEARCHES = { web_search: 0.01, file_search: 0.0025 };
/** Standard rates of the same context length, doubled. */
const FAST = { priority: 2, fast: 2 };

/** By the provider's name in the data, and the model's. */
export const NEWEST: Readonly<Record<string, Readonly<Record<string, NewestModel>>>> = {
  openai: {
    'gpt-6.1-sol': {
      source: OPENAI,
      context: 1_050_000,
      price: {
        ...{ input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10, perUse: SEARCHES },
        tiers: [{ above: LONG, input: 4, cacheRead: 0.2, cacheWrite: 5, output: 15 }],
      },
    },
    'gpt-6.1-terra': {
      source: OPENAI,
      context: 1_050_000,
      price: {
        ...{ input: 1, cacheRead: 0.05, cacheWrite: 1.25, output: 5, perUse: SEARCHES },
        tiers: [{ above: LONG, input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 7.5 }],
      },
    },
    'gpt-6.2-astra': {
      source: OPENAI,
      context: 1_050_000,
      price: {
        ...{ input: 8, cacheRead: 0.4, cacheWrite: 10, output: 40, perUse: SEARCHES, service: FAST },
        tiers: [{ above: LONG, input: 16, cacheRead: 0.8, cacheWrite: 20, output: 60 }],
      },
    },
    // A cache entry of 12 hours costs twice one of 30 minutes; `ultrafast` doubles its factor in March 2027.
    'gpt-6.2-sol': {
      source: OPENAI,
      context: 1_050_000,
      price: [{}, { from: '2027-03-01' }].map((dated) => ({
        ...dated,
        ...{ input: 2, cacheRead: 0.1, cacheWrite: 2.5, cacheWriteLong: 5, output: 10, perUse: SEARCHES },
        tiers: [{ above: LONG, input: 4, cacheRead: 0.2, cacheWrite: 5, cacheWriteLong: 10, output: 15 }],
        service: { ...FAST, ultrafast: 'from' in dated ? 6 : 3 },
      })),
    },
  },
  anthropic: {
    'claude-fable-5-2': {
      source: ANTHROPIC,
      context: 1_000_000,
      price: { input: 8, cacheRead: 0.2, cacheWrite: 10, cacheWriteLong: 16, output: 40, perUse: { web_search: 0.01 } },
    },
    'claude-sonnet-5-5': {
      source: ANTHROPIC,
      context: 1_000_000,
      // Cached input became cheaper.
      price: [{ cacheRead: 0.2 }, { from: '2026-10-07', cacheRead: 0.1 }].map((dated) => ({
        ...dated,
        ...{ input: 2, cacheWrite: 2.5, cacheWriteLong: 4, output: 10, perUse: { web_search: 0.01 } },
      })),
    },
    'claude-haiku-5-5': {
      source: ANTHROPIC,
      context: 1_000_000,
      price: {
        ...{ input: 0.1, cacheRead: 0.01, cacheWrite: 0.125, cacheWriteLong: 0.2, output: 0.5 },
        perUse: { web_search: 0.01 },
        // Cached input counts towards the threshold.
        tiers: [{ above: 100_000, input: 0.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWriteLong: 1, output: 2.5 }],
      },
    },
  },
  google: {
    'gemini-4-hydrogen': {
      source: GOOGLE,
      context: 1_048_576,
      price: { input: 1.5, cacheRead: 0.075, output: 7.5, service: { flex: 0.5, priority: 1.8 } },
    },
    'gemini-4-neon': {
      source: GOOGLE,
      context: 1_048_576,
      price: { input: 3, cacheRead: 0.15, output: 15, service: { flex: 0.5, priority: 1.8 } },
    },
  },
};

/** An entry of this list. */
export interface Newest {
  /** Its name, without a date. */
  readonly id: string;
  readonly context: number;
  /** The latest first; the same objects each time. */
  readonly rows: readonly DatedRow[];
}

/** Names with a date are the same model. */
const DATE = /-(\d{8}|\d{4}-\d{2}-\d{2})$/;

const known = new Map<string, Newest>();

/** Undefined if the model is not in this list. */
export function newestPrice(provider: string, model: string): Newest | undefined {
  const id = model.replace(DATE, '');
  const models = Object.hasOwn(NEWEST, provider) ? NEWEST[provider]! : {};
  if (!Object.hasOwn(models, id)) return undefined;
  const name = `${provider} ${id}`;
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const { price, context } = models[id]!;
  const dated = readPrice(price, [provider, id], (path, message) => {
    throw new Error(`${path.join('.')}: ${message}`);
  });
  const beside = publishedBeside(provider, id);
  const rows = (dated ?? []).map((each) => ({ ...each, row: withBeside(each.row, beside) }));
  const newest = { id, context, rows };
  known.set(name, newest);
  return newest;
}

function withBeside(row: PriceRow, { perUse = new Map(), service = new Map() }: PublishedBeside): PriceRow {
  return {
    ...row,
    units: { ...row.units, perUse: new Map([...perUse, ...(row.units?.perUse ?? [])]) },
    service: new Map([...service, ...(row.service ?? [])]),
  };
}
