/** Decodes the items of a vendor's stream while they grow, to parts of the common form. */

import type { Json, JsonObject, Origin, Warnings } from '../../../../core/plugin.ts';
import { type Block, isObject, member, objectsIn, type Part, textOf } from '../../../../core/translation/index.ts';
import { createItemFinder } from '../fields/item-finder.ts';
import { omitFromItem } from '../fields/members.ts';
import {
  blocksOf,
  callOf,
  citationOf,
  citationsOf,
  contentBlock,
  inputOf,
  logprobsIn,
  opaqueOf,
  thoughtText,
} from './decode-reply.ts';

/** An open block. */
interface Open {
  readonly key: number;
  readonly type: Block['type'];
  /** Its text so far. */
  text: string;
  citations: number;
  ended: boolean;
}

/** One item of the output. */
interface Item {
  /** Empty until it is known. */
  type: string;
  readonly id: string;
  readonly index: number | undefined;
  /** The item of its `added` event, until it is complete. */
  raw: JsonObject;
  /** By the index of the content; reasoning and calls have one only. */
  readonly blocks: Map<number, Open>;
  /** The current part of a reasoning item. */
  place: string;
  /** The input of a call whose name is not known yet. */
  early: string;
  done: boolean;
}

/** Decodes the items of one stream; `push` gets the parts. */
export function followItems(from: Origin, warnings: Warnings, push: (part: Part) => void) {
  const items: Item[] = [];
  const finder = createItemFinder<Item>();
  const types: Block['type'][] = [];

  // ---- blocks

  function begin(item: Item, place: number, block: Block): Open {
    const open: Open = { key: types.length, type: block.type, text: '', citations: 0, ended: false };
    types.push(block.type);
    item.blocks.set(place, open);
    push({ type: 'blockStart', key: open.key, block });
    return open;
  }

  function pushText(open: Open, text: string, logprobs?: readonly Json[]): void {
    if (open.ended || (text === '' && logprobs === undefined)) return;
    open.text += text;
    push({ type: 'delta', key: open.key, text, ...(logprobs && { logprobs }) });
  }

  /** Pushes what is missing up to the whole text. */
  function complete(open: Open, full: string): void {
    if (full.startsWith(open.text)) pushText(open, full.slice(open.text.length));
  }

  function end(open: Open): void {
    if (!open.ended) push({ type: 'blockEnd', key: open.key });
    open.ended = true;
  }

  /** A block that arrives as a whole. */
  function pushBlock(item: Item, place: number, block: Block): void {
    end(begin(item, place, block));
  }

  // ---- items

  function add(raw: JsonObject, index: number | undefined): Item {
    const item: Item = {
      type: textOf(member(raw, 'type')),
      id: textOf(member(raw, 'id')),
      index,
      raw,
      blocks: new Map(),
      place: '',
      early: '',
      done: false,
    };
    items.push(item);
    finder.add(item);
    return item;
  }

  /** Some servers report the type of an item later than its id. */
  function isOf(item: Item, type: string): void {
    if (item.type !== '' || type === '') return;
    item.type = type;
    finder.typed(item);
  }

  /** The item of an event: by its id, by its index, or the open one; created if it was never added. */
  function itemFor(event: JsonObject, type: string): Item {
    const id = textOf(member(event, 'item_id')) || textOf(member(member(event, 'item'), 'id'));
    const index = indexIn(event, 'output_index');
    const value =
      finder.byId(id, type) ??
      finder.byIndex(index, type) ??
      finder.underWay(type, index === undefined ? undefined : 'placeless') ??
      add({ type, id }, index);
    isOf(value, type);
    return value;
  }

  /** Adds an item, unless it was added before, or its deltas arrived first. */
  function addedItem(raw: JsonObject, index: number | undefined): Item {
    const id = textOf(member(raw, 'id'));
    const type = textOf(member(raw, 'type'));
    const existing = finder.byId(id, type) ?? ahead(index, type);
    if (existing === undefined) return add(raw, index);
    existing.raw = raw;
    isOf(existing, type);
    return existing;
  }

  /** The item of deltas with an unknown id. */
  function ahead(index: number | undefined, type: string): Item | undefined {
    const item = index === undefined ? finder.underWay(type, 'nameless') : finder.byIndex(index, type);
    return item?.id === '' && item.index === index && !item.done ? item : undefined;
  }

  function textBlock(event: JsonObject, type: 'text' | 'refusal'): Open | undefined {
    const item = itemFor(event, 'message');
    const place = indexIn(event, 'content_index') ?? 0;
    const open = item.blocks.get(place) ?? (item.done ? undefined : begin(item, place, { type, text: '' }));
    return open?.type === type ? open : undefined;
  }

  /** Opens the block of a call, once its name is known. */
  function callBlock(item: Item, raw: JsonObject): Open | undefined {
    const open = item.blocks.get(0);
    const call = open === undefined ? callOf({ ...raw, type: item.type }) : undefined;
    if (call === undefined) return open;
    const begun = begin(item, 0, call);
    pushText(begun, item.early);
    return begun;
  }

  /** Pushes what is missing of a whole item. */
  function finishItem(item: Item, addDelta: JsonObject): void {
    if (item.done) return;
    item.done = true;
    isOf(item, textOf(member(addDelta, 'type')));
    const raw = addDelta.type === item.type ? addDelta : { ...addDelta, type: item.type };
    omitFromItem(raw, warnings);
    if (item.type === 'message') {
      for (const [place, part] of objectsIn(raw, 'content').entries()) finishPart(item, place, part);
    } else if (item.type === 'reasoning') {
      finishThought(item, raw);
    } else if (isCall(item)) {
      const open = callBlock(item, { ...item.raw, ...raw });
      if (open !== undefined) complete(open, inputOf(raw));
    } else {
      for (const [place, block] of blocksOf(raw, from).entries()) pushBlock(item, place, block);
    }
    for (const open of item.blocks.values()) end(open);
  }

  function finishPart(item: Item, place: number, part: JsonObject): void {
    const full = contentBlock(part);
    if (full.type !== 'text' && full.type !== 'refusal') {
      if (!item.blocks.has(place)) pushBlock(item, place, full);
      return;
    }
    const open = item.blocks.get(place) ?? begin(item, place, { type: full.type, text: '' });
    if (open.ended || open.type !== full.type) return;
    // Log probabilities arrive with the deltas; without deltas, they are pushed now.
    if (open.text === '' && full.text !== '')
      pushText(open, full.text, full.type === 'text' ? full.logprobs : undefined);
    else complete(open, full.text);
    for (const citation of citationsOf(part).slice(open.citations)) {
      push({ type: 'citation', key: open.key, citation });
    }
    end(open);
  }

  function finishThought(item: Item, raw: JsonObject): void {
    const text = thoughtText(raw);
    const opaque = opaqueOf(raw, from);
    if (text === '' && opaque === undefined && item.blocks.size === 0) return;
    const open = item.blocks.get(0) ?? begin(item, 0, { type: 'thinking', text: '' });
    complete(open, text);
    if (opaque !== undefined) push({ type: 'opaque', key: open.key, opaque });
  }

  return {
    added(event: JsonObject): void {
      const raw = objectIn(event, 'item');
      const item = addedItem(raw, indexIn(event, 'output_index'));
      if (isCall(item)) callBlock(item, raw);
    },
    partAdded(event: JsonObject): void {
      const type = textOf(member(member(event, 'part'), 'type'));
      if (type === 'output_text') textBlock(event, 'text');
      else if (type === 'refusal') textBlock(event, 'refusal');
    },
    addDelta(event: JsonObject, type: 'text' | 'refusal'): void {
      const open = textBlock(event, type);
      if (open !== undefined) pushText(open, textOf(member(event, 'delta')), logprobsIn(event));
    },
    annotated(event: JsonObject): void {
      const open = textBlock(event, 'text');
      if (open === undefined || open.ended) return;
      open.citations++;
      push({ type: 'citation', key: open.key, citation: citationOf(objectIn(event, 'annotation')) });
    },
    partDone(event: JsonObject): void {
      const part = objectIn(event, 'part');
      if (part.type === 'reasoning_text') return;
      const item = itemFor(event, 'message');
      if (!item.done) finishPart(item, indexIn(event, 'content_index') ?? 0, part);
    },
    /** `place` distinguishes the parts of reasoning. */
    thought(event: JsonObject, place: string): void {
      const item = itemFor(event, 'reasoning');
      const text = textOf(member(event, 'delta'));
      if (text === '' || item.done) return;
      const open = item.blocks.get(0) ?? begin(item, 0, { type: 'thinking', text: '' });
      if (open.text !== '' && item.place !== place) pushText(open, '\n\n');
      item.place = place;
      pushText(open, text);
    },
    /** The input of a call: a delta, or all of it. */
    input(event: JsonObject, type: 'function_call' | 'custom_tool_call', text: string, isWhole: boolean): void {
      const item = itemFor(event, type);
      if (item.done) return;
      const open = callBlock(item, item.raw);
      if (open === undefined) item.early = isWhole ? text : item.early + text;
      else if (isWhole) complete(open, text);
      else pushText(open, text);
    },
    done(event: JsonObject): void {
      const raw = member(event, 'item');
      if (isObject(raw)) finishItem(itemFor(event, textOf(member(raw, 'type'))), raw);
    },
    /** The whole output, at the end of the stream: pushes what is still missing. */
    finish(response: Json | undefined): void {
      for (const [index, raw] of objectsIn(response, 'output').entries()) {
        const type = textOf(member(raw, 'type'));
        const existing =
          finder.byId(textOf(member(raw, 'id')), type) ??
          finder.byIndex(index, type) ??
          finder.underWay(type, 'nameless');
        finishItem(existing ?? add(raw, index), raw);
      }
      for (const item of items) for (const open of item.blocks.values()) end(open);
    },
    /** Of all blocks so far. */
    types,
  };
}

/** Handles the events of items. Events that do not match are ignored. */
export type IncomingItems = ReturnType<typeof followItems>;

function isCall({ type }: Item): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function indexIn(event: JsonObject, name: string): number | undefined {
  const value = event[name];
  return typeof value === 'number' ? value : undefined;
}

function objectIn(event: JsonObject, name: string): JsonObject {
  const value = member(event, name);
  return isObject(value) ? value : {};
}
