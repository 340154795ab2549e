/** Collects answers for plugins that store or repeat them. */

import type { ContentPart, Revision } from '../../contracts/formats/content.ts';
import type { Block } from '../../contracts/formats/conversation.ts';
import { Fold } from './fold.ts';

/**
 * Collects the answer of one attempt while it is forwarded: its blocks, without the bytes of audio. A block grows in place, and what came of a
 * truncated answer can be read, too.
 */
export class AnswerCollector extends Fold implements Revision {
  readonly observes = true;
  /** Whether any part of it came. */
  hasBegun = false;
  /** By block: the bytes of its text, or of its base64, that were not collected. */
  readonly missing = new Map<Block, number>();
  /** Characters of text that may still be collected, and of citations. */
  #left: number;
  #citationsLeft: number;
  readonly #exact: boolean;

  /**
   * `most`: the maximum number of characters of its texts, and of its citations. `exact`: for an answer that is repeated, all citations, log
   * probabilities and sealed reasoning are collected, too.
   */
  constructor(most: number, exact = false) {
    super();
    this.#left = most;
    this.#citationsLeft = most;
    this.#exact = exact;
  }

  part(part: ContentPart): readonly ContentPart[] {
    this.hasBegun = true;
    const collected = this.#limited(part);
    if (collected !== undefined) this.add(collected);
    return [];
  }

  end(): readonly ContentPart[] {
    return [];
  }

  /** What is collected of a part. */
  #limited(part: ContentPart): ContentPart | undefined {
    switch (part.type) {
      case 'delta': {
        const block = this.block(part.key);
        if (block === undefined) return undefined;
        const text = block.type === 'audio' ? '' : this.#take(part.text);
        if (text.length < part.text.length) {
          const bytes = Buffer.byteLength(part.text.slice(text.length));
          this.missing.set(block, (this.missing.get(block) ?? 0) + bytes);
        }
        return this.#exact ? { ...part, text } : { type: 'delta', key: part.key, text };
      }
      case 'transcript':
        return { ...part, text: this.#take(part.text) };
      case 'citation':
        if (this.#exact) return part;
        if (this.#left === 0 || this.#citationsLeft <= 0) return undefined;
        this.#citationsLeft -= JSON.stringify(part.citation.raw).length;
        return part;
      case 'opaque':
        return this.#exact ? part : undefined;
      default:
        return part;
    }
  }

  /** As much of a text as may still be collected. */
  #take(text: string): string {
    const taken = text.slice(0, this.#left);
    this.#left -= taken.length;
    return taken;
  }
}
