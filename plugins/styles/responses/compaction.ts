/**
 * Compaction: the last item of a request asks for a summary of the conversation, which later requests have in its place. Only vendors of this
 * style have it; other models are asked for a summary. Its item has the text, so that every model can read it.
 */
import type { Answering, Json, JsonObject } from '../../../core/plugin.ts';
import { isObject, member, packOpaque, UNSEALED, unpackOpaque } from '../../../core/translation/index.ts';
import type { createOutput, EventSink } from './client/encode-output-items.ts';

const TRIGGER = 'compaction_trigger';

const KINDS: readonly (Json | undefined)[] = ['compaction', 'compaction_summary', 'context_compaction'];

/** What the model is told in place of the trigger. */
export const ASK =
  'Stop here. This conversation is about to be replaced by a summary, and only the summary remains. Write it now, for whoever continues the ' +
  'task: what was asked, with every requirement; what was done, found and decided; names, paths, values and errors that are still needed; ' +
  'what remains to be done. Answer with the summary only, and call no tools.';

const INTRODUCTION = 'The conversation so far was replaced by this summary of it:\n\n';

/** Whether a request asks for a summary. */
export function asksSummary({ input }: JsonObject): boolean {
  return Array.isArray(input) && member(input.at(-1) as Json, 'type') === TRIGGER;
}

/** The text for the model, if this is a summary that the gateway's models wrote. */
export function summaryIn(item: JsonObject): string | undefined {
  const sealed = item.encrypted_content;
  if (!KINDS.includes(item.type) || typeof sealed !== 'string') return undefined;
  const opaque = unpackOpaque(sealed);
  return opaque?.style === UNSEALED.style ? INTRODUCTION + opaque.value : undefined;
}

/** The same as an item for vendors of this style, which cannot read the gateway's. */
export function summaryMessage(item: Json): JsonObject | undefined {
  const text = isObject(item) ? summaryIn(item) : undefined;
  return text === undefined ? undefined : { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

/** The output of a response whose texts are the summary. One that is empty or cut is none: the conversation would be lost. */
export function createSummary(as: Answering, { emit }: EventSink): ReturnType<typeof createOutput> {
  const items: JsonObject[] = [];
  let summary = '';
  return {
    begin(block) {
      if (block.type !== 'text') return undefined;
      return {
        say(text: string) {
          summary += text;
        },
        cite() {},
        seal() {},
        end() {},
      };
    },
    close(status) {
      if (status === 'incomplete' || summary.trim() === '') return;
      const sealed = packOpaque({ ...UNSEALED, value: summary });
      const item = { id: `cmp_${as.id}_0`, type: 'compaction', encrypted_content: sealed };
      items.push(item);
      for (const event of ['added', 'done']) emit(`response.output_item.${event}`, { output_index: 0, item });
    },
    items,
    broken: () => items,
  };
}
