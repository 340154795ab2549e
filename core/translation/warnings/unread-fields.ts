/** Reports what an encoder has not read of a conversation, so that no style can drop anything silently. */

import { isEmpty } from '../../bytes/fields.ts';
import type {
  Block,
  Conversation,
  CustomTool,
  FunctionTool,
  Labels,
  Output,
  Sampling,
  Source,
  Tool,
  Turn,
} from '../../contracts/formats/conversation.ts';
import type { JsonObject } from '../../contracts/formats/json.ts';
import type { StyleVendor, Target } from '../../contracts/formats/style.ts';
import { SAMPLING_FIELDS } from '../quirks/sampling.ts';
import type { CollectedWarnings } from './warnings.ts';

/**
 * Encodes a request, and reports to `warnings` as dropped what the encoder did not read: fields, and kinds of blocks,
 * sources and tools, each by its first occurrence, and members of tools, of the answer's format and of turns. What the encoder reported itself
 * is not reported again.
 */
export function encodeReported(
  { encodeRequest }: Pick<StyleVendor, 'encodeRequest'>,
  conversation: Conversation,
  to: Target,
  warnings: CollectedWarnings,
): JsonObject {
  const reading = new Reading(conversation);
  const body = encodeRequest(reading.conversation, to, warnings);
  reading.report(warnings);
  return body;
}

/** Records which members of one object were read. A class: several are created for each translated call. */
class Watch implements ProxyHandler<object> {
  readonly read: (string | symbol)[] = [];

  get(target: object, name: string | symbol): unknown {
    this.read.push(name);
    return target[name as keyof typeof target];
  }

  saw(name: string): boolean {
    return this.read.includes(name);
  }

  /** Whether more than its kind was read. */
  get isUsed(): boolean {
    return this.read.some((name) => !KIND_MEMBERS.has(name));
  }
}

const KIND_MEMBERS: ReadonlySet<string | symbol> = new Set(['type', 'kind', 'cache']);

function watched<T extends object>(value: T, watch: Watch): T {
  return new Proxy<T>(value, watch as ProxyHandler<T>);
}

/** One conversation that is being encoded. */
class Reading {
  /** The tracked conversation for the encoder. */
  readonly conversation: Conversation;
  readonly #original: Conversation;
  readonly #fields = new Watch();
  readonly #sampling = new Watch();
  readonly #output = new Watch();
  readonly #labels = new Watch();
  readonly #format = new Watch();
  readonly #named = new Watch();
  /** The first of each kind, by the field under which its kind is reported. */
  #kinds: Map<string, Watch> | undefined;

  constructor(conversation: Conversation) {
    this.#original = conversation;
    const { turns, tools, sampling, output, labels } = conversation;
    const seen: Conversation = {
      ...conversation,
      turns: this.#watchTurns(turns),
      tools: tools.length === 0 ? tools : this.#watchTools(tools),
      sampling: isEmpty(sampling) ? sampling : watched(sampling, this.#sampling),
      output: isEmpty(output) ? output : watched(this.#watchFormat(output), this.#output),
      labels: isEmpty(labels) ? labels : watched(labels, this.#labels),
    };
    this.conversation = watched(seen, this.#fields);
  }

  report(warnings: CollectedWarnings): void {
    const { maxTokens, toolChoice, parallelToolCalls, tools, stop, reasoning, extras } = this.#original;
    const fields = this.#fields;
    const choosesTool = tools.length > 0 && toolChoice !== undefined && toolChoice.mode !== 'auto';
    if (this.#original.choices !== undefined && !fields.saw('choices')) drop('n', warnings);
    if (maxTokens !== undefined && !fields.saw('maxTokens')) drop('max_tokens', warnings);
    if (choosesTool && !fields.saw('toolChoice')) drop('tool_choice', warnings);
    if (tools.length > 0 && parallelToolCalls === false && !fields.saw('parallelToolCalls'))
      drop('parallel_tool_calls', warnings);
    if (stop.length > 0 && !fields.saw('stop')) drop('stop', warnings);
    if (reasoning !== undefined && !fields.saw('reasoning'))
      drop('reasoning_effort', warnings, reasoning.mode === 'off');
    if (!fields.saw('extras')) for (const name of Object.keys(extras)) warnings.leave(name);
    this.#reportGroups(warnings);
    for (const [field, watch] of this.#kinds ?? []) if (!watch.isUsed) drop(field, warnings, HINTS.has(field));
    this.#reportMembers(warnings);
  }

  /** Members of what the encoder has read otherwise. */
  #reportMembers(warnings: CollectedWarnings): void {
    const { turns, tools, output } = this.#original;
    if (!this.#named.saw('name') && turns.some(({ name }) => name !== undefined)) drop('messages.name', warnings, true);
    // Of tools that must not be called, an encoder reads the name alone.
    for (const tool of isReported('tool_choice', warnings) ? [] : tools) {
      const watch = this.#kinds?.get(fieldOf(tool));
      if (tool.type === 'hosted' || watch?.isUsed !== true) continue;
      for (const [member, field] of TOOL_MEMBERS) {
        if (saysSomething(tool[member as keyof typeof tool]) && !watch.saw(member)) drop(field, warnings);
      }
      if (!watch.saw('extras')) for (const name of Object.keys(tool.extras ?? {})) drop(`tools.${name}`, warnings);
    }
    const { format } = output;
    if (format?.type !== 'schema' || !this.#format.isUsed || isReported('response_format', warnings)) return;
    for (const member of ['name', 'description', 'strict'] as const) {
      const isUsual = format[member] === USUAL_NAME || !saysSomething(format[member]);
      if (!isUsual && !this.#format.saw(member)) drop(`response_format.${member}`, warnings, member === 'name');
    }
  }

  #watchFormat(output: Output): Output {
    const { format } = output;
    return format?.type === 'schema' ? { ...output, format: watched(format, this.#format) } : output;
  }

  #reportGroups(warnings: CollectedWarnings): void {
    const { sampling, output, labels } = this.#original;
    for (const name in sampling) {
      if (isUnread(name, sampling, this.#sampling)) drop(SAMPLING_FIELDS[name as keyof Sampling].name, warnings);
    }
    for (const name in output) {
      if (isUnread(name, output, this.#output) && !isUsualOutput(name, output))
        drop(OUTPUT[name as keyof Output], warnings);
    }
    for (const name in labels) {
      if (!isUnread(name, labels, this.#labels) || isUsualLabel(name, labels)) continue;
      drop(LABELS[name as keyof Labels], warnings, name !== 'serviceTier');
    }
  }

  #watchTurns(turns: readonly Turn[]): readonly Turn[] {
    let changed: Turn[] | undefined;
    for (let i = 0; i < turns.length; i++) {
      const turn = turns[i]!;
      const seen = this.#watchTurn(turn);
      if (seen === turn) continue;
      changed ??= [...turns];
      changed[i] = seen;
    }
    return changed ?? turns;
  }

  #watchTurn(turn: Turn): Turn {
    const blocks = this.#watchBlocks(turn.blocks);
    const own = blocks === turn.blocks ? turn : { ...turn, blocks };
    return turn.name === undefined ? own : watched(own, this.#named);
  }

  #watchBlocks(blocks: readonly Block[]): readonly Block[] {
    let changed: Block[] | undefined;
    for (let i = 0; i < blocks.length; i++) {
      const block = blocks[i]!;
      // Every style encodes text.
      if (block.type === 'text') continue;
      const seen = this.#watchBlock(block);
      if (seen === block) continue;
      changed ??= [...blocks];
      changed[i] = seen;
    }
    return changed ?? blocks;
  }

  #watchBlock(block: Block): Block {
    switch (block.type) {
      case 'image':
      case 'file': {
        const source = this.#first(`messages.${block.type}`, block.source, block.source.kind);
        return source === block.source ? block : { ...block, source };
      }
      case 'toolResult': {
        const content = this.#watchBlocks(block.content);
        return this.#first('messages.tool', content === block.content ? block : { ...block, content });
      }
      case 'foreign':
        return this.#first(`messages.${block.what}`, block);
      default:
        return this.#first(BLOCKS[block.type], block);
    }
  }

  /** All tools of a kind, because not each is sent. */
  #watchTools(tools: readonly Tool[]): readonly Tool[] {
    this.#kinds ??= new Map();
    const kinds = this.#kinds;
    return tools.map((tool) => {
      const watch = kinds.get(fieldOf(tool)) ?? new Watch();
      kinds.set(fieldOf(tool), watch);
      return watched(tool, watch);
    });
  }

  /** Tracks the first of its kind. */
  #first<T extends Block | Source | Tool>(field: string, value: T, kind = ''): T {
    this.#kinds ??= new Map();
    // A space occurs in no field name, so that `drop` can split off the kind.
    const key = kind === '' ? field : `${field} ${kind}`;
    if (this.#kinds.has(key)) return value;
    const watch = new Watch();
    this.#kinds.set(key, watch);
    return watched(value, watch);
  }
}

/** Reports a field, unless the encoder has. */
function drop(field: string, warnings: CollectedWarnings, isHint = false): void {
  const [plain] = field.split(' ') as [string];
  if (!isReported(plain, warnings)) warnings.drop(plain, isHint ? 'hint' : undefined);
}

function isReported(field: string, warnings: CollectedWarnings): boolean {
  const name = warnings.nameOf(field);
  return warnings.all.some((warning) => warning.startsWith(`${name}:`) || warning.startsWith(`${name}.`));
}

function fieldOf(tool: Tool): string {
  return tool.type === 'hosted' ? `tools.${tool.name}` : tool.type === 'custom' ? 'tools.custom' : 'tools';
}

/** Members of tools, and their fields. */
const TOOL_MEMBERS: readonly (readonly [member: keyof FunctionTool | keyof CustomTool, field: string])[] = [
  ['description', 'tools.description'],
  ['schema', 'tools.parameters'],
  ['format', 'tools.format'],
  ['strict', 'tools.strict'],
];

function saysSomething(value: unknown): boolean {
  return value !== undefined && value !== '' && value !== false;
}

/** The name of a format whose client has no names. */
const USUAL_NAME = 'structured_output';

function isUnread(name: string, group: object, watch: Watch): boolean {
  return group[name as keyof typeof group] !== undefined && !watch.saw(name);
}

/** Values equivalent to a missing field. */
function isUsualOutput(name: string, { format, modalities }: Output): boolean {
  if (name === 'format') return format?.type === 'text';
  if (name === 'modalities') return modalities?.length === 1 && modalities[0] === 'text';
  return name === 'audio' && modalities?.includes('audio') !== true;
}

function isUsualLabel(name: string, { serviceTier, store }: Labels): boolean {
  if (name === 'store') return store !== true;
  return name === 'serviceTier' && (serviceTier === 'auto' || serviceTier === 'default');
}

const OUTPUT: Readonly<Record<keyof Output, string>> = {
  format: 'response_format',
  verbosity: 'verbosity',
  modalities: 'modalities',
  audio: 'audio',
};

const LABELS: Readonly<Record<keyof Labels, string>> = {
  user: 'user',
  metadata: 'metadata',
  cacheKey: 'prompt_cache_key',
  serviceTier: 'service_tier',
  store: 'store',
};

const BLOCKS = {
  text: 'messages.text',
  refusal: 'messages.refusal',
  audio: 'messages.audio',
  thinking: 'messages.reasoning',
  toolCall: 'messages.tool_calls',
} as const;

const HINTS: ReadonlySet<string> = new Set(['messages.reasoning']);
