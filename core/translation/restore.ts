/** Restores the client's view of a vendor's answer: tool names, custom tools, stop sequences. */
import type { Block, Finish, Part, Reply, ToolCallBlock } from '../contracts/conversation.ts';
import { unwrapInput } from './custom-tools.ts';
import { foldParts, partsOf } from './fold.ts';
import { cutAtStop } from './stop.ts';
import type { ClientTool } from './tool-names.ts';

/** Reverts in the answer what `adapt` changed in the request. */
export interface Restorer {
  /** A whole answer. */
  reply(reply: Reply): Reply;
  /** One stream, part by part. The returned list is reused by the next call. */
  parts(): (part: Part) => readonly Part[];
}

/** The changes to revert. */
export interface Changes {
  /** Tools that differ for the client, by the vendor's names. */
  readonly tools: ReadonlyMap<string, ClientTool>;
  /** Stop sequences that the gateway detects itself. */
  readonly stop: readonly string[];
}

/** For a forwarded request; only the finish reason is corrected. */
export const NOTHING_CHANGED: Changes = { tools: new Map(), stop: [] };

/** The output for parts. */
export type PartSink = (part: Part) => void;

/** A whole answer is processed like a stream, for the same result; it has a finish, so its parts make a reply again. */
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

/** The result if only the finish reason may differ, without splitting the answer into parts. */
function withTrueFinish(reply: Reply): Reply {
  return { ...reply, finish: finishOf(reply.finish, reply.blocks.some(isCall)) };
}

function isCall({ type }: Block): boolean {
  return type === 'toolCall';
}

/** A normal finish is `tool_calls` if and only if there are tool calls, whatever the vendor reports. Others stay. */
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

/** Restores the names of calls. A wrapped input can only be unwrapped when it is complete, so it is one delta. */
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
