/** Writes the stream of a completion client. */
import type { Answering, PartWriter, Usage } from '../../../core/plugin.ts';
import { errorEvent } from '../chat/errors.ts';
import { omitEnd, writeFinish } from '../chat/finish.ts';
import { writeUsage } from '../chat/usage.ts';
import { nameOf, saysText } from './omitted.ts';

/** Every event is a completion whose text is the next piece. */
export function createStreamEncoder(as: Answering): PartWriter {
  const facts = {
    id: `cmpl-${as.id}`,
    object: 'text_completion',
    created: Math.floor(as.createdMs / 1_000),
    model: as.model,
  };
  const head = `data: ${JSON.stringify(facts).slice(0, -1)},"choices":[`;
  const tail = as.asksUsage ? '],"usage":null}\n\n' : ']}\n\n';
  /** The keys of blocks that are shown. */
  const shown = new Set<number>();
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
            as.losses.omit(nameOf(block));
            return '';
          }
          shown.add(part.key);
          refusal ||= block.type === 'refusal';
          return block.text === '' ? '' : event(block.text, null);
        }
        case 'delta':
          return shown.has(part.key) && part.text !== '' ? event(part.text, null) : '';
        case 'usage':
          usage = part.usage;
          return '';
        case 'finish': {
          const held = { calls: false, refusal };
          const end = event('', writeFinish(part.finish, held));
          omitEnd(part.finish, held, as.losses);
          const told = as.asksUsage ? `${head}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n` : '';
          return `${end}${told}data: [DONE]\n\n`;
        }
        default:
          return '';
      }
    },
    fail: errorEvent,
  };
}
