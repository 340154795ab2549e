/** Checks that a stream of parts keeps the order that the comment of `Part` promises. */
import assert from 'node:assert/strict';
import type { BlockStart, Part } from '../../../core/contracts/formats/conversation.ts';

/** Fails where a part stands out of order. A stream that has not come to its end is legal as far as it goes. */
export function checkParts(parts: readonly Part[]): void {
  const open = new Map<number, BlockStart>();
  const used = new Set<number>();
  let ended: string | undefined;

  for (const [i, part] of parts.entries()) {
    const where = `part ${i} (${part.type})`;
    assert.equal(ended, undefined, `${where} stands behind \`${ended}\``);
    const mayBegin = part.type === 'start' || part.type === 'error';
    assert.ok(i === 0 ? mayBegin : part.type !== 'start', `${where}: \`start\` comes first, and once`);
    if (part.type === 'blockStart') {
      assert.ok(!used.has(part.key), `${where}: key ${part.key} was used before`);
      assert.ok(isUngrown(part.block), `${where}: what grows by deltas is empty in the beginning`);
      used.add(part.key);
      open.set(part.key, part.block);
    } else if ('key' in part) {
      const block = open.get(part.key);
      assert.ok(block !== undefined, `${where}: no block with key ${part.key} is open`);
      assert.ok(takes(block, part), `${where}: a block of type ${block.type} has none`);
      if (part.type === 'blockEnd') open.delete(part.key);
    } else if (part.type === 'finish') {
      assert.deepEqual([...open.keys()], [], `${where}: these blocks are still open`);
      ended = part.type;
    } else if (part.type === 'error') {
      ended = part.type;
    }
  }
}

function isUngrown(block: BlockStart): boolean {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return block.text === '';
    case 'toolCall':
      return block.input === '';
    case 'audio':
      return block.data === '';
    default:
      return true;
  }
}

const TAKES: Readonly<Record<string, readonly BlockStart['type'][]>> = {
  delta: ['text', 'refusal', 'thinking', 'toolCall', 'audio'],
  citation: ['text'],
  opaque: ['thinking', 'toolCall'],
  transcript: ['audio'],
};

function takes(block: BlockStart, part: Part): boolean {
  return part.type === 'blockEnd' || (TAKES[part.type]?.includes(block.type) ?? false);
}
