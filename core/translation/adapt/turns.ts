/** Instructions, and the order of turns: none empty, roles alternate, the user first, the assistant last if prefill. */

import type { Block, TextBlock, Turn } from '../../contracts/formats/conversation.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import { mapChanged, withBlocks } from '../unchanged.ts';

/** The text for an empty user turn; vendors refuse a turn without text. */
const SILENT_USER: Turn = { role: 'user', blocks: [{ type: 'text', text: '.' }] };

/**
 * Removes empty blocks and turns; the strictest vendors refuse blank text. A turn with only reasoning is empty for a
 * model that gets none back, or only that before its calls.
 */
export function withoutEmpty(
  turns: readonly Turn[],
  { echo }: Pick<Quirks['reasoning'], 'echo'>,
  warnings: Warnings,
): readonly Turn[] {
  const isSilent = ({ role, blocks }: Turn): boolean =>
    role === 'assistant' && echo !== 'all' && blocks.every(({ type }) => type === 'thinking');
  return mapChanged(turns, (turn) => {
    const own = withBlocks(turn, mapChanged(turn.blocks, withoutEmptyContent));
    if (own.blocks.length === 0) warnings.change('messages', 'hint');
    else if (isSilent(own)) warnings.drop('messages.reasoning', 'hint');
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
export function mergeSame(turns: readonly Turn[], warnings: Warnings): readonly Turn[] {
  if (!turns.some(hasRoleOfLast)) return turns;
  const merged: Growing[] = [];
  let speech = false;
  for (const turn of turns) {
    speech ||= !isInstruction(turn);
    const last = merged.at(-1);
    if (speech && last?.role === turn.role) join(last, turn, warnings);
    else merged.push({ ...turn, blocks: [...turn.blocks] });
  }
  return merged;
}

/** Whether it has the role of the previous turn. */
function hasRoleOfLast({ role }: Turn, i: number, turns: readonly Turn[]): boolean {
  return i > 0 && turns[i - 1]!.role === role;
}

/** Appends one turn to another; a name is kept only if both have the same. */
function join(turn: Growing, { blocks, name }: Turn, warnings: Warnings): void {
  if (turn.name !== name) {
    warnings.drop('messages.name', 'hint');
    delete turn.name;
  }
  for (const block of blocks) turn.blocks.push(block);
}

/** Ensures the first and last role. Runs after all other steps that move turns. */
export function fitSpeakers(turns: readonly Turn[], { roles, prefill }: Quirks, warnings: Warnings): readonly Turn[] {
  let end = turns.length;
  while (!prefill && isPrefill(turns[end - 1])) {
    end--;
    warnings.change('messages');
  }
  if (prefill === 'restarts' && isPrefill(turns.at(-1))) warnings.change('messages', 'hint');
  const fitted = end === turns.length ? turns : turns.slice(0, end);
  const first = fitted.findIndex((turn) => !isInstruction(turn));
  const lacksUser = first === -1 || (roles.first_user && fitted[first]?.role === 'assistant');
  if (!lacksUser) return fitted;
  warnings.change('messages');
  return fitted.toSpliced(first === -1 ? fitted.length : first, 0, SILENT_USER);
}

/** The beginning of the answer. A call without a result is not one. */
function isPrefill(turn: Turn | undefined): boolean {
  return turn?.role === 'assistant' && !turn.blocks.some(({ type }) => type === 'toolCall');
}

/** The role of instructions is neither `user` nor `assistant`. */
export function isInstruction({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

/** Renames `developer`, and moves or wraps instructions in the middle if required. */
export function fitInstructions(turns: readonly Turn[], { roles }: Quirks, warnings: Warnings): readonly Turn[] {
  const named = roles.developer === 'keep' ? turns : turns.map(asSystem);
  const found = named.findIndex((turn) => !isInstruction(turn));
  const begin = found === -1 ? named.length : found;
  const rest = named.slice(begin);
  if (roles.mid_system === 'native' || !rest.some(isInstruction)) return named;
  warnings.change('messages.system');
  const front = named.slice(0, begin);
  const others =
    roles.mid_system === 'front'
      ? [...rest.filter(isInstruction), ...rest.filter((turn) => !isInstruction(turn))]
      : rest.map((turn) => (isInstruction(turn) ? wrapped(turn) : turn));
  return [...front, ...others];
}

function asSystem(turn: Turn): Turn {
  return turn.role === 'developer' ? { ...turn, role: 'system' } : turn;
}

/** The marker that coding clients use for text in a user turn that is not the user's; models know it. */
function wrapped({ blocks }: Turn): Turn {
  const isText = (block: Block): block is TextBlock => block.type === 'text';
  const texts = blocks.filter(isText);
  const cache = texts.findLast((block) => block.cache !== undefined)?.cache;
  const text = `<system-reminder>\n${texts.map((block) => block.text).join('\n\n')}\n</system-reminder>`;
  const reminder: TextBlock = { type: 'text', text, ...(cache && { cache }) };
  return {
    role: 'user',
    blocks: [...(texts.length > 0 ? [reminder] : []), ...blocks.filter((block) => !isText(block))],
  };
}

/** Joins several instructions at the front. */
export function mergeInstructions(turns: readonly Turn[], warnings: Warnings): readonly Turn[] {
  const found = turns.findIndex((turn) => !isInstruction(turn));
  const front = turns.slice(0, found === -1 ? turns.length : found);
  if (front.length < 2) return turns;
  if (front.some(({ name }) => name !== undefined)) warnings.drop('messages.name', 'hint');
  const role = front.every((turn) => turn.role === 'developer') ? 'developer' : 'system';
  return [{ role, blocks: front.flatMap(({ blocks }) => blocks) }, ...turns.slice(front.length)];
}
