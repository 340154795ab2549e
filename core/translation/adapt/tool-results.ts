/**
 * Pairs tool calls and results as the strictest vendors require: each call has a unique id and one result, at the start
 * of the user's turn directly after the call. Clients that truncate their history, or assemble it from several sources,
 * send other forms.
 */

import type { Block, ToolCallBlock, ToolResultBlock, Turn } from '../../contracts/formats/conversation.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';

/** Moves every result after its call; missing ones are created, surplus ones become text or are removed. */
export function pairResults(turns: readonly Turn[], warnings: Warnings): readonly Turn[] {
  if (!turns.some(isToPair)) return turns;
  const { rest, resultOf } = collect(turns, warnings);
  const paired: Turn[] = [];
  for (const [i, turn] of rest.entries()) {
    // The turn after a call was consumed with its results.
    if (turn === undefined) continue;
    const calls = callsIn(turn);
    if (turn.blocks.length > 0) paired.push(turn);
    const last = i === rest.length - 1;
    if (calls.length === 0 || (last && !calls.some((call) => resultOf.has(call)))) continue;
    const found = calls.map((call) => resultOf.get(call)).filter((result) => result !== undefined);
    const missing = calls.filter((call) => !resultOf.has(call));
    if (missing.length > 0) warnings.change('messages.tool_calls');
    const results = [...found.sort((a, b) => a.order - b.order).map(({ block }) => block), ...missing.map(noResult)];
    const next = rest[i + 1];
    if (next?.role === 'user') {
      paired.push({ ...next, blocks: [...results, ...next.blocks] });
      rest[i + 1] = undefined;
    } else {
      paired.push({ role: 'user', blocks: results });
    }
  }
  return paired;
}

/** Whether it has blocks to pair, or none at all. */
function isToPair({ role, blocks }: Turn): boolean {
  if (blocks.length === 0) return true;
  return blocks.some(({ type }) => type === 'toolResult' || (type === 'toolCall' && role === 'assistant'));
}

/** A result and its position: results of one turn keep the client's order. */
interface Found {
  readonly block: ToolResultBlock;
  readonly order: number;
}

/** Calls with the same id. */
interface CallsOfId {
  readonly calls: ToolCallBlock[];
  /** The number of them that have a result: they are answered in order. */
  answered: number;
  /** The suffix for the next unique id. */
  suffix: number;
}

/** The turns without the results that belong to a call, which are separate. */
function collect(turns: readonly Turn[], warnings: Warnings) {
  const resultOf = new Map<ToolCallBlock, Found>();
  /** By the client's id; some clients count from zero in each turn, so that ids repeat. */
  const callsOf = new Map<string, CallsOfId>();
  const ids = new Set(turns.flatMap(callsIn).map(({ id }) => id));
  const used = new Set<string>();

  function call(block: ToolCallBlock): ToolCallBlock {
    const same = callsOf.get(block.id) ?? { calls: [], answered: 0, suffix: 2 };
    callsOf.set(block.id, same);
    let id = block.id;
    while (used.has(id) || (id !== block.id && ids.has(id))) id = `${block.id}_${same.suffix++}`;
    used.add(id);
    const own = id === block.id ? block : { ...block, id };
    same.calls.push(own);
    return own;
  }

  function result(block: ToolResultBlock): readonly Block[] {
    const same = callsOf.get(block.id);
    if (same === undefined) {
      warnings.change('messages.tool_results');
      return asText(block);
    }
    const own = same.calls[same.answered];
    if (own === undefined) {
      warnings.change('messages.tool_results');
      return [];
    }
    same.answered++;
    resultOf.set(own, { block: own.id === block.id ? block : { ...block, id: own.id }, order: resultOf.size });
    return [];
  }

  const rest: (Turn | undefined)[] = turns.map((turn) => ({
    ...turn,
    blocks: turn.blocks.flatMap((block) => {
      if (block.type === 'toolResult') return result(block);
      return block.type === 'toolCall' && turn.role === 'assistant' ? [call(block)] : [block];
    }),
  }));
  return { rest, resultOf };
}

function callsIn({ role, blocks }: Turn): readonly ToolCallBlock[] {
  return role === 'assistant' ? blocks.filter((block) => block.type === 'toolCall') : [];
}

function noResult({ id, kind }: ToolCallBlock): ToolResultBlock {
  return { type: 'toolResult', id, kind, content: [{ type: 'text', text: '(no result)' }], isError: true };
}

/** A tool result as text, for a model that has no matching call. */
function asText({ id, content }: ToolResultBlock): readonly Block[] {
  return [{ type: 'text', text: `Result of an earlier tool call (${id}):` }, ...content];
}
