/**
 * The order of turns: none empty, roles alternate, the user first, and the assistant last only if prefill is supported.
 */
import type { Block, Turn } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';
import { isInstruction } from './instructions.ts';
import { mapChanged, withBlocks } from './unchanged.ts';

/** The text for an empty user turn; vendors refuse a turn without text. */
const SILENT_USER: Turn = { role: 'user', blocks: [{ type: 'text', text: '.' }] };

/**
 * Removes empty blocks and turns; the strictest vendors refuse blank text. A turn with only reasoning is empty for a
 * model that gets none back, or only that before its calls.
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

/** Undefined if nothing is left. */
function withoutEmptyContent(block: Block): Block | undefined {
  if (!saysSomething(block)) return undefined;
  return block.type === 'toolResult' ? { ...block, content: block.content.filter(saysSomething) } : block;
}

function saysSomething(block: Block): boolean {
  if (block.type === 'thinking') return block.text !== '' || block.opaque !== undefined;
  return (block.type !== 'text' && block.type !== 'refusal') || block.text.trim() !== '';
}

/** A growing turn. */
type Growing = Omit<Turn, 'blocks' | 'name'> & { blocks: Block[]; name?: string };

/** Joins neighbours of one role, except instructions at the front, which are handled separately. */
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

/** Whether it has the role of the previous turn. */
function hasRoleOfLast({ role }: Turn, i: number, turns: readonly Turn[]): boolean {
  return i > 0 && turns[i - 1]!.role === role;
}

/** Appends one turn to another; a name is kept only if both have the same. */
function join(turn: Growing, { blocks, name }: Turn, losses: Losses): void {
  if (turn.name !== name) {
    losses.drop('messages.name', 'hint');
    delete turn.name;
  }
  for (const block of blocks) turn.blocks.push(block);
}

/** Ensures the first and last role. Runs after all other steps that move turns. */
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

/** The beginning of the answer. A call without a result is not one. */
function isPrefill(turn: Turn | undefined): boolean {
  return turn?.role === 'assistant' && !turn.blocks.some(({ type }) => type === 'toolCall');
}
