/** Instructions for models with fewer roles, or fewer positions for them, than the client's style. */
import type { Block, TextBlock, Turn } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';

/** The role of instructions is neither `user` nor `assistant`. */
export function isInstruction({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

/** Renames `developer`, and moves or wraps instructions in the middle if required. */
export function fitInstructions(turns: readonly Turn[], { roles }: Quirks, losses: Losses): readonly Turn[] {
  const named = roles.developer === 'keep' ? turns : turns.map(asSystem);
  const found = named.findIndex((turn) => !isInstruction(turn));
  const begin = found === -1 ? named.length : found;
  const rest = named.slice(begin);
  if (roles.mid_system === 'native' || !rest.some(isInstruction)) return named;
  losses.change('messages.system');
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
export function mergeInstructions(turns: readonly Turn[], losses: Losses): readonly Turn[] {
  const found = turns.findIndex((turn) => !isInstruction(turn));
  const front = turns.slice(0, found === -1 ? turns.length : found);
  if (front.length < 2) return turns;
  if (front.some(({ name }) => name !== undefined)) losses.drop('messages.name', 'hint');
  const role = front.every((turn) => turn.role === 'developer') ? 'developer' : 'system';
  return [{ role, blocks: front.flatMap(({ blocks }) => blocks) }, ...turns.slice(front.length)];
}
