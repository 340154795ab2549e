/** Who speaks when: nothing empty, nobody twice in a row, the user first, and the model last only where it may go on from its own words. */
import type { Block, Turn } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';
import { isInstruction } from './instructions.ts';

/** A user who says nothing; vendors refuse a turn without text. */
const SILENT_USER: Turn = { role: 'user', blocks: [{ type: 'text', text: '.' }] };

/**
 * Without blocks and turns that say nothing; the strictest vendors refuse text that is nothing but space. A turn of which only
 * thoughts are left says nothing to a model that gets none of them back, or only those before its calls.
 */
export function withoutEmpty(
  turns: readonly Turn[],
  { echo }: Pick<Quirks['reasoning'], 'echo'>,
  losses: Losses,
): readonly Turn[] {
  const isSilent = ({ role, blocks }: Turn): boolean =>
    role === 'assistant' && echo !== 'all' && blocks.every(({ type }) => type === 'thinking');
  return turns
    .map((turn) => ({ ...turn, blocks: turn.blocks.map(withoutEmptyContent).filter(saysSomething) }))
    .filter((turn) => {
      if (turn.blocks.length === 0) losses.change('messages', 'hint');
      else if (isSilent(turn)) losses.drop('messages.reasoning', 'hint');
      return turn.blocks.length > 0 && !isSilent(turn);
    });
}

function withoutEmptyContent(block: Block): Block {
  return block.type === 'toolResult' ? { ...block, content: block.content.filter(saysSomething) } : block;
}

function saysSomething(block: Block): boolean {
  if (block.type === 'thinking') return block.text !== '' || block.opaque !== undefined;
  return (block.type !== 'text' && block.type !== 'refusal') || block.text.trim() !== '';
}

/** A turn that grows. */
type Growing = Omit<Turn, 'blocks' | 'name'> & { blocks: Block[]; name?: string };

/** Joins neighbours of one role. Instructions at the front are none of it: whether they become one is another question. */
export function mergeSame(turns: readonly Turn[], losses: Losses): readonly Turn[] {
  const merged: Growing[] = [];
  let speech = false;
  for (const turn of turns) {
    speech ||= !isInstruction(turn);
    const last = merged.at(-1);
    if (speech && last?.role === turn.role) join(last, turn, losses);
    else merged.push({ ...turn, blocks: [...turn.blocks] });
  }
  return merged;
}

/** Adds one turn to another; a name stays only where both have it. */
function join(turn: Growing, { blocks, name }: Turn, losses: Losses): void {
  if (turn.name !== name) {
    losses.drop('messages.name', 'hint');
    delete turn.name;
  }
  for (const block of blocks) turn.blocks.push(block);
}

/** Who speaks first and last. Comes when nothing else moves turns any more. */
export function fitSpeakers(turns: readonly Turn[], { roles, prefill }: Quirks, losses: Losses): readonly Turn[] {
  const fitted = [...turns];
  while (!prefill && isPrefill(fitted.at(-1))) {
    fitted.pop();
    losses.change('messages');
  }
  const first = fitted.findIndex((turn) => !isInstruction(turn));
  if (first === -1) {
    losses.change('messages');
    fitted.push(SILENT_USER);
  } else if (roles.first_user && fitted[first]?.role === 'assistant') {
    losses.change('messages');
    fitted.splice(first, 0, SILENT_USER);
  }
  return fitted;
}

/** The beginning of the answer. A call that still waits for its result is none. */
function isPrefill(turn: Turn | undefined): boolean {
  return turn?.role === 'assistant' && !turn.blocks.some(({ type }) => type === 'toolCall');
}
