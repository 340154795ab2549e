/** Encodes the stream for a completion client: text only; any other content is reported in a warning. */
import type { Answering, PartWriter, Usage } from '../../../core/plugin.ts';
import type { Block } from '../../../core/translation/index.ts';
import { errorEvent } from '../chat/errors.ts';
import { headOf } from '../chat/fields/completion.ts';
import { omitEnd, writeFinish } from '../chat/fields/finish.ts';
import { writeUsage } from '../chat/fields/usage.ts';

const NAMES: Readonly<Partial<Record<Block['type'], string>>> = { thinking: 'reasoning', toolCall: 'tool_calls' };

/** True for blocks that the client gets; the text of a refusal is an answer, too. */
export function saysText(block: Block): block is Extract<Block, { readonly type: 'text' | 'refusal' }> {
  return block.type === 'text' || block.type === 'refusal';
}

/** The name in warnings of a block that is not sent. */
export function nameOf(block: Block): string {
  return block.type === 'foreign' ? block.what : (NAMES[block.type] ?? block.type);
}

/** Every event is a completion whose text is the next piece. */
export function createStreamEncoder(as: Answering): PartWriter {
  const head = `data: ${JSON.stringify(headOf('text_completion', as)).slice(0, -1)},"choices":[`;
  const tail = as.asksUsage ? '],"usage":null}\n\n' : ']}\n\n';
  /** The keys of the blocks that are sent. */
  const sent = new Set<number>();
  let refusal = false;
  let usage: Usage | undefined;

  function event(text: string, finish: string | null): string {
    return `${head}${JSON.stringify({ text, index: 0, logprobs: null, finish_reason: finish })}${tail}`;
  }

  return {
    write(part) {
      switch (part.type) {
        case 'blockStart': {
          const { block } = part;
          if (!saysText(block)) {
            as.warnings.omit(nameOf(block));
            return '';
          }
          sent.add(part.key);
          refusal ||= block.type === 'refusal';
          return block.text === '' ? '' : event(block.text, null);
        }
        case 'delta':
          return sent.has(part.key) && part.text !== '' ? event(part.text, null) : '';
        case 'usage':
          usage = part.usage;
          return '';
        case 'finish': {
          const contained = { calls: false, refusal };
          const end = event('', writeFinish(part.finish, contained));
          omitEnd(part.finish, contained, as.warnings);
          const usageEvent = as.asksUsage ? `${head}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n` : '';
          return `${end}${usageEvent}data: [DONE]\n\n`;
        }
        default:
          return '';
      }
    },
    fail: errorEvent,
  };
}
