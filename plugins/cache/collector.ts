/** Collects the answer of a call while it is forwarded, to be cached if the call ends well. */
import type { ContentPart, Revision } from '../../core/plugin.ts';
import { foldParts, type Reply } from '../../core/translation/index.ts';

/** The answer of one attempt. A class, because there is one for each attempt of a call that can be cached. */
export class Collector implements Revision {
  readonly observes = true;
  readonly #most: number;
  #parts: ContentPart[] = [];
  #length = 0;

  /** `most`: the maximum number of characters; longer answers are not collected. */
  constructor(most: number) {
    this.#most = most;
  }

  part(part: ContentPart): readonly ContentPart[] {
    if (part.type === 'delta') this.#length += part.text.length;
    if (this.#length <= this.#most) this.#parts.push(part);
    else this.#parts = [];
    return [];
  }

  end(): readonly ContentPart[] {
    return [];
  }

  /** The answer, if it can be repeated: complete, not refused, with only text, reasoning and calls of the client's tools. */
  reply(): Reply | undefined {
    const reply = foldParts(this.#parts);
    if (reply === undefined || this.#length > this.#most) return undefined;
    const isComplete = COMPLETE.includes(reply.finish.reason);
    return isComplete && reply.blocks.every(({ type }) => KEPT.includes(type)) ? reply : undefined;
  }
}

const COMPLETE: readonly string[] = ['stop', 'stop_sequence', 'tool_calls'] satisfies Reply['finish']['reason'][];
/** Audio expires at its vendor; blocks that only one style knows may expire, too. */
const KEPT: readonly string[] = ['text', 'thinking', 'toolCall'] satisfies Reply['blocks'][number]['type'][];
