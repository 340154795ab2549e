/** The plugin `prompts`: stores prompts and answers of calls, encrypted, for a limited time and for authorized readers. */
import { Audit } from '../../core/contracts/audit.ts';
import { Prompts, type StoredAnswer } from '../../core/contracts/prompts.ts';
import type { Migration } from '../../core/plugin.ts';
import {
  type Content,
  definePlugin,
  type Exchange,
  type Known,
  type Parts,
  type Surrender,
  slot,
} from '../../core/plugin.ts';
import { byteSize, durationMs, isInScope, scopeServices, warnOfScope } from '../../core/sdk.ts';
import { AnswerCollector } from '../../core/translation/index.ts';
import { jsonText, lengthsIn, plainLength, storedAnswer } from './blocks.ts';
import { contentOf, type SeenRequest } from './content.ts';
import { errors } from './errors.ts';
import { createReading } from './reading.ts';
import { createSweep } from './rows.ts';
import { promptsSection } from './section.ts';
import { createWriter } from './writer.ts';

/**
 * `prompt_log`: one row per call. `sealed` is a `StoredContent` as JSON, sealed for its id. `at_ms`: when the call ended.
 * `prompt_log_ended`: accounts and keys that were deleted, so that calls that were running then are not stored; for a day.
 */
const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'prompts and answers',
    compatibleFrom: 0,
    sql: [
      `CREATE TABLE prompt_log (
        id TEXT NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        key_id INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        sealed TEXT NOT NULL
      ) STRICT`,
      'CREATE INDEX prompt_log_by_age ON prompt_log (at_ms)',
      'CREATE INDEX prompt_log_by_account ON prompt_log (account_id)',
      'CREATE INDEX prompt_log_by_key ON prompt_log (key_id)',
      `CREATE TABLE prompt_log_ended (
        kind TEXT NOT NULL CHECK (kind IN ('account', 'key')),
        owner INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (kind, owner)
      ) STRICT`,
    ],
  },
];

/** Of a call that is stored. */
interface Stored {
  readonly request: SeenRequest;
  /** Of the last attempt. */
  collector: AnswerCollector | undefined;
}
const stored = slot<Stored>('prompts.stored');

/** The most that `maxBytes` may be. */
const MOST_BYTES = 1_024 * 1_024;

export default definePlugin({
  name: 'prompts',
  api: 2,
  errors,
  sections: { prompts: promptsSection },
  migrations,
  wants: [Audit, ...scopeServices],
  provides: [Prompts],
  create(host, { prompts: section }): Parts {
    const keepMs = durationMs(section.keep);
    const maxBytes = byteSize(section.maxBytes);
    if (maxBytes < 1_024 || maxBytes > MOST_BYTES) {
      host.problem(['prompts', 'maxBytes'], 'must be 1kb at least, and 1mb at most');
    }
    const writer = createWriter(host);
    const sweep = createSweep(host, keepMs);
    host.provide(Prompts, createReading(host, section, keepMs, writer));
    let hasFailed = false;

    async function surrender(): Promise<readonly Surrender[]> {
      const row = await host.store.one<{ n: number }>('SELECT COUNT(*) AS n FROM prompt_log');
      const what = `prompts and answers of ${row?.n ?? 0} calls: they cannot be read any more`;
      return [{ what, steps: [{ sql: 'DELETE FROM prompt_log' }] }];
    }

    /** Without the section, stored content is deleted, and is lost with its master key. */
    const always: Parts = {
      surrender,
      start: sweep.start,
      async stop() {
        await sweep.stop();
        await writer.stop();
      },
    };
    // Without its section, it has no part in any call.
    if (keepMs === 0) return always;

    async function see(x: Known, content: Content): Promise<undefined> {
      stored.set(x, { request: await seen(x, content), collector: undefined });
    }

    return {
      ...always,
      inspect(x, content) {
        if (content.purpose !== 'call' || !isInScope(section, x, host)) return undefined;
        return see(x, content);
      },
      revise(x) {
        const call = stored.get(x);
        if (call === undefined) return undefined;
        call.collector = new AnswerCollector(maxBytes);
        return call.collector;
      },
      settle(x) {
        const call = stored.get(x);
        if (call === undefined || x.identity === undefined) return undefined;
        // A fallback that would have been in the scope was not needed.
        if (!isInScope(section, x as Known, host)) return undefined;
        const { account, key } = x.identity;
        try {
          const answer = (call.collector && storedAnswer(call.collector)) ?? severalAnswers(x);
          // A call that was answered neither by a vendor nor by a plugin was refused.
          if (answer === undefined && x.attempts.length === 0) return undefined;
          writer.add({ id: x.id, accountId: account.id, keyId: key.id }, contentOf(call.request, answer, maxBytes));
        } catch (error) {
          if (!hasFailed) host.log.error('a prompt and its answer could not be stored', { exchange: x.id, error });
          hasFailed = true;
        }
        return undefined;
      },
      link() {
        warnOfScope(host, ['prompts'], section, false);
        for (const [i, reader] of section.readers.entries()) {
          if (reader.includes('*')) host.warn(['prompts', 'readers', i], PATTERN_WARNING);
        }
      },
      *explain(x) {
        if (isInScope(section, x, host)) yield `prompt and answer are stored for ${section.keep}`;
      },
      report() {
        const readers = ['root', ...section.readers, ...(section.own ? ['users their own'] : [])].join(', ');
        const about = `prompts and answers are stored for ${section.keep}, at most ${section.maxBytes} of a call; readers: ${readers}`;
        if (host.find(Audit) !== undefined) return [about];
        return [about, 'warning: prompts: reading them is not audited; add `audit` to `pipeline`'];
      },
    };
  },
});

const PATTERN_WARNING =
  'every administrator whose name matches may read what users sent: list ids, or names without `*`';

/** The request of a call. One that cannot be decoded is for its vendor to refuse. */
async function seen(x: Known, content: Content): Promise<SeenRequest> {
  try {
    const conversation = await content.conversation();
    if (conversation === undefined) return { conversation, texts: content.texts(), lengthOf: plainLength, omitted: [] };
    return { conversation, texts: [], lengthOf: lengthsIn(x.call.body), omitted: content.omitted() };
  } catch {
    return { conversation: undefined, texts: [], lengthOf: plainLength, omitted: ['request:dropped'] };
  }
}

/** Several answers (`n`), which no `Revision` sees, as the client got them. */
function severalAnswers(x: Exchange): StoredAnswer | undefined {
  if (x.style?.client === undefined || x.call.bounds.choices < 2) return undefined;
  const answer = x.answer();
  return answer && { blocks: [{ type: 'data', name: 'answer', text: jsonText(answer, plainLength) }] };
}
