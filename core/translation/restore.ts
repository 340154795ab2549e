/** The vendor's answer as the client has to see it: its own names for the tools, its own kind of them, its own texts that end it. */
import type { Block, Finish, Part, Reply, ToolCallBlock } from '../contracts/conversation.ts';
import { unwrapInput } from './custom-tools.ts';
import { foldParts, partsOf } from './fold.ts';
import { cutAtStop } from './stop.ts';
import type { ClientTool } from './tool-names.ts';

/** Undoes in the answer what `adapt` did to the request. */
export interface Restorer {
  /** A whole answer. */
  reply(reply: Reply): Reply;
  /** One stream, part by part. The list that comes back is good until the next call: it is always the same one. */
  parts(): (part: Part) => readonly Part[];
}

/** What has to be undone. */
export interface Changes {
  /** By the vendor's names the tools that are others to the client. */
  readonly tools: ReadonlyMap<string, ClientTool>;
  /** Texts that end the answer although the vendor does not know of them. */
  readonly stop: readonly string[];
}

/** For a request that went out as it came; only how an answer ends is put right. */
export const NOTHING_CHANGED: Changes = { tools: new Map(), stop: [] };

/** Where parts go. */
export type PartSink = (part: Part) => void;

/**
 * A whole answer in which something is undone takes the way of a stream, so that both end up the same: it has a finish, so its parts
 * make a reply again.
 */
export function createRestorer({ tools, stop }: Changes): Restorer {
  function parts(): (part: Part) => readonly Part[] {
    const list: Part[] = [];
    let sink = trueFinish((part) => void list.push(part));
    if (stop.length > 0) sink = cutAtStop(stop, sink);
    if (tools.size > 0) sink = restoreCalls(tools, sink);
    return (part) => {
      list.length = 0;
      sink(part);
      return list;
    };
  }
  const isPlain = stop.length === 0 && tools.size === 0;
  return {
    parts,
    reply: (reply) => (isPlain ? withTrueFinish(reply) : foldParts(partsOf(reply).flatMap(parts()))!),
  };
}

/** What the parts would come to where nothing but the finish may be another, without taking the answer apart. */
function withTrueFinish(reply: Reply): Reply {
  return { ...reply, finish: finishOf(reply.finish, reply.blocks.some(isCall)) };
}

function isCall({ type }: Block): boolean {
  return type === 'toolCall';
}

/**
 * A plain end with tool calls in the answer waits for their results, and without any it does not, whatever word the vendor has
 * for it. An end that means something else stays.
 */
function trueFinish(next: PartSink): PartSink {
  let calls = false;
  return (part) => {
    if (part.type === 'blockStart' && part.block.type === 'toolCall') calls = true;
    next(part.type === 'finish' ? { ...part, finish: finishOf(part.finish, calls) } : part);
  };
}

function finishOf(finish: Finish, calls: boolean): Finish {
  const plain = finish.reason === 'stop' || finish.reason === 'tool_calls';
  return plain ? { ...finish, reason: calls ? 'tool_calls' : 'stop' } : finish;
}

/** Gives calls their names back. What was wrapped can be opened only when it is complete, so it comes in one piece. */
function restoreCalls(tools: ReadonlyMap<string, ClientTool>, next: PartSink): PartSink {
  const inputs = new Map<number, string>();
  return (part) => {
    if (part.type === 'blockStart' && part.block.type === 'toolCall') {
      const tool = tools.get(part.block.name);
      const wrapped = tool?.wrapped && part.block.kind === 'function';
      if (wrapped) inputs.set(part.key, part.block.input);
      next(tool === undefined ? part : { ...part, block: asCalled(part.block, tool, wrapped === true) });
      return;
    }
    const input = 'key' in part ? inputs.get(part.key) : undefined;
    if (input === undefined) {
      next(part);
    } else if (part.type === 'delta') {
      inputs.set(part.key, input + part.text);
    } else {
      if (part.type === 'blockEnd') {
        const text = unwrapInput(input);
        if (text !== '') next({ type: 'delta', key: part.key, text });
        inputs.delete(part.key);
      }
      next(part);
    }
  };
}

function asCalled(block: ToolCallBlock, { name, namespace }: ClientTool, wrapped: boolean): ToolCallBlock {
  const { namespace: _, ...rest } = block;
  return {
    ...rest,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(wrapped && { kind: 'custom' as const, input: '' }),
  };
}
