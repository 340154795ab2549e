/** Collects the answer of one attempt as it is stored, while it is forwarded: never more than is stored of a call, and no media. */
import type { StoredAnswer, StoredBlock } from '../../core/contracts/prompts.ts';
import type { ContentPart, Revision } from '../../core/plugin.ts';
import type { Citation } from '../../core/translation/index.ts';
import { base64Bytes, citationsOf, plainLength, storedBlocks } from './blocks.ts';

/** A block that grows. */
interface Growing {
  readonly block: StoredBlock;
  /** The next element. */
  readonly more: readonly StoredBlock[];
  text: string;
  /** Of its text, not collected. */
  cutBytes: number;
  /** Of sound: characters of base64. */
  soundLength: number;
  transcript: string;
  readonly citations: Citation[];
}

/** One for each attempt of a call that is stored. */
export class Collector implements Revision {
  readonly observes = true;
  /** Characters that may still be collected. */
  #left: number;
  readonly #blocks: Growing[] = [];
  readonly #open = new Map<number, Growing>();
  #finish: StoredAnswer['finish'];
  #hasBegun = false;

  /** `most`: characters. */
  constructor(most: number) {
    this.#left = most;
  }

  part(part: ContentPart): readonly ContentPart[] {
    this.#hasBegun = true;
    if (part.type === 'blockStart') this.#begin(part.key, storedBlocks(part.block, plainLength));
    else if (part.type === 'finish') this.#finish = part.finish.reason;
    else if ('key' in part) {
      const growing = this.#open.get(part.key);
      if (growing !== undefined) this.#grow(growing, part);
    }
    return [];
  }

  #begin(key: number, [block, ...more]: readonly StoredBlock[]): void {
    if (block === undefined) return;
    const text = block.type === 'media' ? block.text : this.#take(block.text);
    const cutBytes = Buffer.byteLength(block.text) - Buffer.byteLength(text);
    const growing: Growing = { block, more, text, cutBytes, soundLength: 0, transcript: '', citations: [] };
    this.#blocks.push(growing);
    this.#open.set(key, growing);
  }

  #grow(growing: Growing, part: ContentPart): void {
    if (part.type === 'delta' && growing.block.type === 'media') growing.soundLength += part.text.length;
    else if (part.type === 'delta') {
      const taken = this.#take(part.text);
      growing.text += taken;
      if (taken.length < part.text.length) growing.cutBytes += Buffer.byteLength(part.text.slice(taken.length));
    } else if (part.type === 'transcript') growing.transcript += this.#take(part.text);
    else if (part.type === 'citation' && this.#left > 0) {
      this.#left -= Math.min(this.#left, JSON.stringify(part.citation.raw).length);
      growing.citations.push(part.citation);
    }
  }

  /** As much of a text as may still be collected. */
  #take(text: string): string {
    const taken = text.length <= this.#left ? text : text.slice(0, this.#left);
    this.#left -= taken.length;
    return taken;
  }

  end(): readonly ContentPart[] {
    return [];
  }

  /** The answer, or what came of it; undefined if nothing did. */
  answer(): StoredAnswer | undefined {
    if (!this.#hasBegun) return undefined;
    const finish = this.#finish;
    return { blocks: this.#blocks.flatMap(grown), ...(finish !== undefined && { finish }) };
  }
}

function grown(growing: Growing): readonly StoredBlock[] {
  const { block, more, text, cutBytes, soundLength, transcript, citations } = growing;
  const whole: StoredBlock = {
    ...block,
    text,
    ...(cutBytes > 0 && { cutBytes }),
    ...(soundLength > 0 && { bytes: base64Bytes('', () => soundLength) }),
  };
  const isEmpty = text === '' && cutBytes === 0 && (block.type === 'text' || block.type === 'reasoning');
  return [
    ...(isEmpty ? [] : [whole]),
    ...more,
    ...(transcript === '' ? [] : [{ type: 'text' as const, text: transcript }]),
    ...citationsOf(citations),
  ];
}
