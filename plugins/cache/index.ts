/** The plugin `cache`: repeats an earlier answer for the same request of the same account, without an upstream attempt. */
import { LRUCache } from 'lru-cache';
import { Catalog } from '../../core/contracts/catalog.ts';
import { definePlugin, type GivenAnswer, type Inspection, type Known, type Parts, slot } from '../../core/plugin.ts';
import { byteSize, durationMs, isInScope } from '../../core/sdk.ts';
import type { Reply } from '../../core/translation/index.ts';
import { Collector } from './collector.ts';
import { keyOf } from './key.ts';
import { cacheSection } from './section.ts';

/** A call whose answer will be cached. */
interface Miss {
  readonly key: string;
  /** The collector of the last upstream attempt. */
  collector: Collector | undefined;
}
const misses = slot<Miss>('cache.miss');

/** Price factors are in millionths. */
const MILLION = 1_000_000;

export default definePlugin({
  name: 'cache',
  api: 2,
  sections: { cache: cacheSection },
  wants: [Catalog],
  create(host, { cache: section }): Parts {
    const { ttl, price } = section;
    const ttlMs = durationMs(ttl);
    // Unless it is configured, the plugin does not inspect calls.
    if (ttlMs === 0) return {};
    const maxSize = byteSize(section.maxBytes);
    if (maxSize === 0) host.problem(['cache', 'maxBytes'], 'must be more than 0');
    /** Answers as JSON, by key, so that their size is exact. */
    const answers = new LRUCache<string, Buffer>({
      maxSize: Math.max(1, maxSize),
      sizeCalculation: (answer, key) => answer.length + key.length,
      ttl: ttlMs,
      ttlResolution: 0,
      perf: host.clock,
    });

    function answerTo(x: Known, key: string | undefined): Inspection | undefined {
      if (key === undefined) return undefined;
      const cached = requests(x, 'no-cache') ? undefined : answers.get(key);
      if (cached !== undefined) {
        x.header('x-turnpike-cache', 'hit');
        return given(JSON.parse(cached.toString()) as Reply);
      }
      x.header('x-turnpike-cache', 'miss');
      misses.set(x, { key, collector: undefined });
      return undefined;
    }

    function given(answer: Reply): GivenAnswer {
      if (price === 0) return { answer, charge: 'nothing' };
      return { answer, charge: 'usage', share: Math.round(price * MILLION) };
    }

    /** A fallback has another price, and its answer must not be repeated once the model itself is available. */
    function isFallback({ call, served }: Known): boolean {
      const catalog = host.find(Catalog);
      return catalog !== undefined && served?.priced !== catalog.require(call.model).name;
    }

    return {
      inspect(x, content) {
        if (!isInScope(section, x) || requests(x, 'no-store')) return undefined;
        const key = keyOf(x, content, section.calls);
        return key instanceof Promise ? key.then((cached) => answerTo(x, cached)) : answerTo(x, key);
      },
      revise(x) {
        const miss = misses.get(x);
        if (miss === undefined) return undefined;
        miss.collector = new Collector(maxSize);
        return miss.collector;
      },
      settle(x) {
        const miss = misses.get(x);
        if (miss?.collector === undefined || x.outcome !== 'served' || isFallback(x as Known)) return undefined;
        const reply = miss.collector.reply();
        if (reply !== undefined) answers.set(miss.key, Buffer.from(JSON.stringify(reply)));
        return undefined;
      },
      *explain(x) {
        if (isInScope(section, x)) yield 'may answer from the cache';
      },
      report: () => [`answers are kept for ${ttl}, at most ${section.maxBytes} in each process`],
    };
  },
});

/** Whether the client's `cache-control` header has a directive. */
function requests({ headers }: Known, directive: string): boolean {
  const control = headers['cache-control'];
  return control?.split(',').some((each) => each.trim().toLowerCase() === directive) ?? false;
}
