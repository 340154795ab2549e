/** Restores the client's view of a vendor's answer: tool names, custom tools, stop sequences; names the model that made its reasoning. */

import { isNoArguments, mayBeNoArguments } from '../../bytes/values.ts';
import type { Block, Finish, Opaque, Part, Reply, ToolCallBlock } from '../../contracts/formats/conversation.ts';
import { foldParts, type PartSink, partsOf } from '../conversation/fold.ts';
import { mapChanged } from '../unchanged.ts';
import { unwrapInput } from './custom-tools.ts';
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
  /** The vendor's name of the model that answers: its signatures and encrypted reasoning are bound to it. */
  readonly model?: string;
}

/** For a forwarded request; only the finish reason is corrected. */
export const NOTHING_CHANGED: Changes = { tools: new Map(), stop: [] };

/** A whole answer is processed like a stream, for the same result; it has a finish, so its parts make a reply again. */
export function createRestorer({ tools, stop, model }: Changes): Restorer {
  function parts(): (part: Part) => readonly Part[] {
    const list: Part[] = [];
    let sink = trueFinish(trueArguments((part) => void list.push(part)));
    if (model !== undefined) sink = boundTo(model, sink);
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
    reply: (reply) =>
      isPlain ? withTrueFinish(boundReply(reply, model)) : foldParts(partsOf(reply).flatMap(parts()))!,
  };
}

/** Opaque data with the model that made it. */
function boundTo(model: string, next: PartSink): PartSink {
  return (part) => {
    if (part.type === 'opaque') next({ ...part, opaque: { ...part.opaque, model } });
    else if (part.type === 'blockStart') next({ ...part, block: boundBlock(part.block, model) });
    else next(part);
  };
}

function boundReply(reply: Reply, model: string | undefined): Reply {
  if (model === undefined || !reply.blocks.some((block) => opaqueOf(block) !== undefined)) return reply;
  return { ...reply, blocks: reply.blocks.map((block) => boundBlock(block, model)) };
}

function boundBlock<B extends Block>(block: B, model: string): B {
  const opaque = opaqueOf(block);
  return opaque === undefined ? block : { ...block, opaque: { ...opaque, model } };
}

function opaqueOf(block: Block): Opaque | undefined {
  return block.type === 'thinking' || block.type === 'toolCall' ? block.opaque : undefined;
}

/** The result if only the finish reason may differ, without splitting the answer into parts. */
function withTrueFinish(reply: Reply): Reply {
  return {
    ...reply,
    blocks: mapChanged(reply.blocks, withTrueArguments),
    finish: finishOf(reply.finish, reply.blocks.some(isCall)),
  };
}

/** Arguments are an object: what some servers write for none is none. */
export function withTrueArguments<B extends Block>(block: B): B {
  const isNone = block.type === 'toolCall' && block.kind === 'function' && spellsNone(block.input);
  return isNone ? { ...block, input: '' } : block;
}

/** Whether arguments are `null`, `[]` or `""`. */
function spellsNone(input: string): boolean {
  return input.trim() !== '' && isNoArguments(input);
}

/** The same for a stream: the beginning of arguments is held back while it may be all. */
function trueArguments(next: PartSink): PartSink {
  const held = new Map<number, string>();
  return (part) => {
    if (part.type === 'blockStart' && part.block.type === 'toolCall' && part.block.kind === 'function') {
      held.set(part.key, '');
    }
    const before = part.type === 'delta' || part.type === 'blockEnd' ? held.get(part.key) : undefined;
    if (before === undefined) {
      next(part);
    } else if (part.type === 'delta') {
      const text = before + part.text;
      if (mayBeNoArguments(text)) {
        held.set(part.key, text);
      } else {
        held.delete(part.key);
        next(before === '' ? part : { ...part, text });
      }
    } else if (part.type === 'blockEnd') {
      held.delete(part.key);
      if (before !== '' && !spellsNone(before)) next({ type: 'delta', key: part.key, text: before });
      next(part);
    }
  };
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
