/** The plugin `cache`: repeats an earlier answer for the same request of the same account, without an upstream attempt. */

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Catalog } from '../../core/contracts/catalog.ts';
import {
  type Awaitable,
  type Content,
  definePlugin,
  type GivenAnswer,
  type Inspection,
  type Known,
  type Parts,
  slot,
  typed,
} from '../../core/plugin.ts';
import {
  byteSize,
  duration,
  durationMs,
  isInScope,
  scopeProperties,
  scopeServices,
  size,
  warnOfScope,
} from '../../core/sdk.ts';
import { AnswerCollector, type Conversation, type Reply } from '../../core/translation/index.ts';

const cacheSection = typed({
  type: 'object',
  description: 'Caches answers, and repeats them for the same request of the same account.',
  additionalProperties: false,
  default: { ttl: '0s', maxBytes: '64mb', price: 0, calls: 'deterministic' },
  properties: {
    ttl: { ...duration, default: '0s', description: 'How long an answer is cached; `0s`: the cache is off.' },
    maxBytes: {
      ...size,
      default: '64mb',
      description: 'The maximum size of all answers in each process; the least recently requested ones are dropped.',
    },
    price: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0,
      description: "The price of a cached answer as a part of the model's price: 0 is free, 1 the full price.",
    },
    calls: {
      enum: ['deterministic', 'all'],
      default: 'deterministic',
      description: '`deterministic`: only calls with temperature 0. `all`: any temperature.',
    },
    ...scopeProperties,
  },
});

/** Larger bodies may have names in place of their media, which differ each time. */
const LARGEST_BODY = 1_024 * 1_024;

/** The key; undefined if the answer must not be cached. A promise only if the body is decoded in several turns. */
function keyOf(x: Known, content: Content, calls: 'deterministic' | 'all'): Awaitable<string | undefined> {
  if (content.purpose !== 'call' || x.call.body.bytes.length >= LARGEST_BODY) return undefined;
  const conversation = content.conversation();
  return conversation instanceof Promise
    ? conversation.then((decoded) => keyOfConversation(x, content, decoded, calls))
    : keyOfConversation(x, content, conversation, calls);
}

function keyOfConversation(
  x: Known,
  content: Content,
  conversation: Conversation | undefined,
  calls: 'deterministic' | 'all',
): string | undefined {
  if (conversation === undefined || content.refusal() !== undefined) return undefined;
  // What is kept is one answer.
  if (conversation.choices !== undefined) return undefined;
  // Two requests could differ in members that the conversation omits.
  if (content.omitted().length > 0) return undefined;
  if (calls === 'deterministic' && conversation.sampling.temperature !== 0) return undefined;
  // The results of the vendor's tools change with time.
  if (conversation.tools.some(({ type }) => type === 'hosted')) return undefined;
  // Groups have other channels.
  const { account, key } = x.identity;
  const group = key.group ?? account.group;
  const request = canonicalJson([account.id, group, x.call.model, betasOf(x), conversation]);
  return createHash('sha256').update(request).digest('base64');
}

/** Headers that select features of an API, and are forwarded to vendors of the same API. */
function betasOf({ headers }: Known): readonly (readonly [string, string])[] {
  return Object.entries(headers).filter(([name]) => name.endsWith('-beta'));
}

/** JSON that does not depend on the order of members. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** The answer, if it can be repeated: complete, not refused, with only text, reasoning and calls of the client's tools. */
export function repeatableAnswer(collector: AnswerCollector): Reply | undefined {
  const reply = collector.reply();
  if (reply === undefined || collector.missing.size > 0) return undefined;
  const isComplete = COMPLETE.includes(reply.finish.reason);
  return isComplete && reply.blocks.every(({ type }) => KEPT.includes(type)) ? reply : undefined;
}

const COMPLETE: readonly string[] = ['stop', 'stop_sequence', 'tool_calls'] satisfies Reply['finish']['reason'][];
/** Audio expires at its vendor; blocks that only one style knows may expire, too. */
const KEPT: readonly string[] = ['text', 'thinking', 'toolCall'] satisfies Reply['blocks'][number]['type'][];

/** A call whose answer will be cached. */
interface Miss {
  readonly key: string;
  /** The collector of the last upstream attempt. */
  collector: AnswerCollector | undefined;
}
const misses = slot<Miss>('cache.miss');

/** Price factors are in millionths. */
const MILLION = 1_000_000;

export default definePlugin({
  name: 'cache',
  api: 2,
  sections: { cache: cacheSection },
  wants: scopeServices,
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
        if (!isInScope(section, x, host) || requests(x, 'no-store')) return undefined;
        const key = keyOf(x, content, section.calls);
        return key instanceof Promise ? key.then((cached) => answerTo(x, cached)) : answerTo(x, key);
      },
      revise(x) {
        const miss = misses.get(x);
        if (miss === undefined) return undefined;
        miss.collector = new AnswerCollector(maxSize, true);
        return miss.collector;
      },
      settle(x) {
        const miss = misses.get(x);
        if (miss?.collector === undefined || x.outcome !== 'served' || isFallback(x as Known)) return undefined;
        const reply = repeatableAnswer(miss.collector);
        if (reply !== undefined) answers.set(miss.key, Buffer.from(JSON.stringify(reply)));
        return undefined;
      },
      *explain(x) {
        if (isInScope(section, x, host)) yield 'may answer from the cache';
      },
      link: () => warnOfScope(host, ['cache'], section, false),
      report: () => [`answers are kept for ${ttl}, at most ${section.maxBytes} in each process`],
    };
  },
});

/** Whether the client's `cache-control` header has a directive. */
function requests({ headers }: Known, directive: string): boolean {
  const control = headers['cache-control'];
  return control?.split(',').some((each) => each.trim().toLowerCase() === directive) ?? false;
}
