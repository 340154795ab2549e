/** Who speaks when: nothing empty, nobody twice in a row, the user first, and the model last only where it may go on from its own words. */
import type { Block, Turn } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';
import { isInstruction } from './instructions.ts';
import { mapChanged, withBlocks } from './unchanged.ts';

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
  return mapChanged(turns, (turn) => {
    const own = withBlocks(turn, mapChanged(turn.blocks, withoutEmptyContent));
    if (own.blocks.length === 0) losses.change('messages', 'hint');
    else if (isSilent(own)) losses.drop('messages.reasoning', 'hint');
    else return own;
    return undefined;
  });
}

/** Undefined where nothing is left of it. */
function withoutEmptyContent(block: Block): Block | undefined {
  if (!saysSomething(block)) return undefined;
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
  if (!turns.some(hasRoleOfLast)) return turns;
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

/** Whether it has the role of the turn before. */
function hasRoleOfLast({ role }: Turn, i: number, turns: readonly Turn[]): boolean {
  return i > 0 && turns[i - 1]!.role === role;
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
  let end = turns.length;
  while (!prefill && isPrefill(turns[end - 1])) {
    end--;
    losses.change('messages');
  }
  const fitted = end === turns.length ? turns : turns.slice(0, end);
  const first = fitted.findIndex((turn) => !isInstruction(turn));
  const lacksUser = first === -1 || (roles.first_user && fitted[first]?.role === 'assistant');
  if (!lacksUser) return fitted;
  losses.change('messages');
  return fitted.toSpliced(first === -1 ? fitted.length : first, 0, SILENT_USER);
}

/** The beginning of the answer. A call that still waits for its result is none. */
function isPrefill(turn: Turn | undefined): boolean {
  return turn?.role === 'assistant' && !turn.blocks.some(({ type }) => type === 'toolCall');
}
