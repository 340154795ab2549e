/** Decodes the input items of a request as turns: adjacent items of one speaker become one turn. */

import type { Json, Warnings } from '../../../../core/plugin.ts';
import type {
  Block,
  Fields,
  Opaque,
  ThinkingBlock,
  Tool,
  ToolCallBlock,
  Turn,
} from '../../../../core/translation/index.ts';
import { flatName, isObject, jsonText, member, textOf, unpackOpaque } from '../../../../core/translation/index.ts';
import { ASK, summaryIn } from '../compaction.ts';
import { dropRest, readContent, required } from '../fields/content.ts';
import { CLIENT_SEARCH } from '../fields/tools.ts';

/** Items that declare tools: some clients send them inside the conversation, or after a tool search. */
const DECLARATIONS = new Set(['additional_tools', 'tool_search_output']);

/** The supported items, for the error about any other. */
const KINDS = [
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
].join(', ');

/** Items that only vendors of this style support: results and settings of vendor-side tools. */
const VENDORS: ReadonlySet<string> = new Set([
  'agent_message',
  'apply_patch_call',
  'apply_patch_call_output',
  'code_interpreter_call',
  'computer_call',
  'computer_call_output',
  'configuration_update',
  'file_search_call',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'mcp_list_tools',
  'multi_agent_call',
  'multi_agent_call_output',
  'program',
  'program_output',
  'shell_call',
  'shell_call_output',
  'web_search_call',
]);

/** The tools that items declare. */
export function declaredTools(items: readonly Fields[]): readonly Fields[] {
  return items.flatMap((item) => (DECLARATIONS.has(item.text('type') ?? '') ? item.each('tools') : []));
}

/** Decodes the input. `tools`: those declared in any item. */
export function readInput(items: readonly Fields[], tools: readonly Tool[], warnings: Warnings): readonly Turn[] {
  const turns: { readonly role: Turn['role']; readonly blocks: Block[]; readonly joins: boolean }[] = [];
  /** Calls by the ids of their items, which some clients use. */
  const callIds = new Map<string, string>();
  const inGroups = new Set(tools.map((tool) => (tool.type === 'hosted' ? '' : groupKey(tool.namespace, tool.name))));

  /** `joins`: it belongs to the previous turn of the same speaker. */
  function addBlocks(role: Turn['role'], blocks: readonly Block[], joins: boolean): void {
    const last = turns.at(-1);
    if (joins && last?.joins === true && last.role === role) for (const block of blocks) last.blocks.push(block);
    else turns.push({ role, blocks: [...blocks], joins });
  }

  function readMessage(item: Fields): void {
    const role = required(item, 'role');
    if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer') {
      item.wrong('role', 'must be "user", "assistant", "system" or "developer"');
    }
    addBlocks(role, readContent(item, 'content', warnings), role === 'assistant');
  }

  function readCall(item: Fields, kind: ToolCallBlock['kind'], input: string): void {
    const itemId = item.text('id');
    const callId = item.text('call_id');
    const id = callId ?? required(item, 'id');
    if (itemId !== undefined) callIds.set(itemId, id);
    // The position of the item in the vendor's own store.
    if (itemId !== undefined && callId !== undefined) warnings.drop('messages.id', 'hint');
    const name = required(item, 'name');
    const namespace = item.text('namespace');
    // A tool search names its groups in calls, but declares the tools without them.
    const isGroup = inGroups.has(groupKey(namespace, name));
    const call = { type: 'toolCall', id, name, kind, input, ...(isGroup && namespace && { namespace }) } as const;
    addBlocks('assistant', [call], true);
  }

  function readResult(item: Fields, kind: ToolCallBlock['kind']): void {
    const id = required(item, 'call_id');
    const content = readContent(item, 'output', warnings).filter((block) => block.type !== 'text' || block.text !== '');
    addBlocks('user', [{ type: 'toolResult', id: callIds.get(id) ?? id, kind, content }], true);
  }

  /** A client-side tool search: for other vendors a function, and the tools it found are their names. */
  function readSearch(item: Fields, type: 'tool_search_call' | 'tool_search_output'): void {
    const id = required(item, 'call_id');
    for (const name of ['id', 'status', 'execution']) item.get(name);
    if (type === 'tool_search_call') {
      addBlocks(
        'assistant',
        [{ type: 'toolCall', id, name: CLIENT_SEARCH, kind: 'function', input: argumentsOf(item) }],
        true,
      );
      return;
    }
    const text = namesIn(item.list('tools') ?? []).join('\n') || 'No tools were found.';
    addBlocks('user', [{ type: 'toolResult', id, kind: 'function', content: [{ type: 'text', text }] }], true);
  }

  function addForeign(item: Fields, type: string): void {
    const raw = { type, ...item.rest() };
    addBlocks(/_(output|response)$/.test(type) ? 'user' : 'assistant', [foreign(type, raw)], true);
  }

  for (const item of items) {
    const type = item.text('type') ?? (item.get('role') === undefined ? required(item, 'type') : 'message');
    switch (type) {
      case 'message':
        readMessage(item);
        break;
      case 'function_call':
        readCall(item, 'function', argumentsOf(item));
        break;
      case 'custom_tool_call':
        readCall(item, 'custom', item.text('input') ?? '');
        break;
      case 'function_call_output':
        readResult(item, 'function');
        break;
      case 'tool_search_call':
      case 'tool_search_output': {
        const { execution, call_id: id } = item.rest();
        if (execution === 'client' && typeof id === 'string') {
          readSearch(item, type);
          break;
        }
        // Results of vendor-side searches have no call of the client.
        addForeign(item, type);
        continue;
      }
      case 'custom_tool_call_output':
        readResult(item, 'custom');
        break;
      case 'reasoning': {
        const thought = readThought(item);
        if (thought === undefined) warnings.drop('messages.reasoning', 'hint');
        else addBlocks('assistant', [thought], true);
        break;
      }
      case 'item_reference':
        warnings.refuse(
          'messages.item_reference',
          'refers to an item that only its vendor has stored. Send the item itself.',
        );
        break;
      case 'compaction':
      case 'compaction_summary':
      case 'context_compaction': {
        const summary = summaryIn({ type, encrypted_content: item.text('encrypted_content') ?? null });
        if (summary === undefined) {
          warnings.refuse(
            'messages.compaction',
            'is a summary that only its vendor can decrypt. Send the summarized items.',
          );
        }
        item.get('id');
        addBlocks('user', [{ type: 'text', text: summary }], false);
        break;
      }
      case 'compaction_trigger':
        if (item !== items.at(-1)) item.wrong('type', 'must be that of the last item');
        warnings.change('messages.compaction_trigger');
        addBlocks('user', [{ type: 'text', text: ASK }], false);
        break;
      case 'additional_tools':
        item.get('tools');
        item.get('role');
        break;
      default: {
        if (!VENDORS.has(type)) item.wrong('type', `must be ${KINDS}, or an item of the vendor's own tools`);
        addForeign(item, type);
        continue;
      }
    }
    dropRest(item, 'messages', warnings);
  }
  return withOpaques(turns.map(({ role, blocks }) => ({ role, blocks })));
}

/** The tools of a list by their call names; those of a group have its prefix. */
function namesIn(tools: readonly Json[], group?: string): readonly string[] {
  return tools.filter(isObject).flatMap((tool) => {
    const name = textOf(member(tool, 'name'));
    if (tool.type === 'namespace' && Array.isArray(tool.tools)) return namesIn(tool.tools, name);
    return name === '' ? [] : [flatName({ name, ...(group !== undefined && { namespace: group }) })];
  });
}

function groupKey(namespace: string | undefined, name: string): string {
  return JSON.stringify([namespace ?? null, name]);
}

function foreign(what: string, raw: Extract<Block, { readonly type: 'foreign' }>['raw']): Block {
  return { type: 'foreign', style: 'responses', what, raw };
}

/** JSON text; an object is accepted as well. */
function argumentsOf(item: Fields): string {
  const input = item.get('arguments');
  return input === undefined ? '' : typeof input === 'string' ? input : jsonText(input);
}

/** Undefined if the item has neither text nor encrypted content: it was only a reference to the vendor's store. */
function readThought(item: Fields): ThinkingBlock | undefined {
  const texts = [...(item.list('summary') ?? []), ...(item.list('content') ?? [])].map((part) =>
    textOf(member(part, 'text')),
  );
  const text = texts.filter((each) => each !== '').join('\n\n');
  const opaque = sealedIn(item.text('encrypted_content'), item.text('id'));
  if (text === '' && opaque === undefined) return undefined;
  return { type: 'thinking', text, ...(opaque && { opaque }) };
}

/** If the gateway did not pack it, a vendor of this style encrypted it. */
function sealedIn(text: string | undefined, id: string | undefined): Opaque | undefined {
  if (text === undefined || text === '') return undefined;
  const opaque = unpackOpaque(text) ?? {
    style: 'responses',
    kind: 'encrypted',
    value: text,
    ...(id !== undefined && { id }),
  };
  // The gateway packs data without a style if the vendor has no encrypted reasoning.
  return opaque.style === '' ? undefined : opaque;
}

/** The signature of a tool call is in a separate item, under the call's id, and not always beside the call. */
function withOpaques(turns: readonly Turn[]): readonly Turn[] {
  if (!turns.some(({ blocks }) => blocks.some((block) => block.type === 'thinking' && block.opaque?.id !== undefined)))
    return turns;
  const blocks = turns.flatMap((turn) => turn.blocks);
  const calls = new Set(blocks.map((block) => (block.type === 'toolCall' ? block.id : undefined)));
  const carried = new Map<string, Opaque>();
  for (const block of blocks) {
    if (block.type !== 'thinking' || block.opaque?.id === undefined) continue;
    if (calls.has(block.opaque.id)) carried.set(block.opaque.id, block.opaque);
  }
  if (carried.size === 0) return turns;

  const attach = (block: Block): readonly Block[] => {
    if (block.type === 'toolCall') {
      const opaque = carried.get(block.id);
      return [opaque === undefined ? block : { ...block, opaque }];
    }
    if (block.type !== 'thinking' || !carried.has(block.opaque?.id ?? '')) return [block];
    return block.text === '' ? [] : [{ type: 'thinking', text: block.text }];
  };
  return turns
    .map((turn) => ({ ...turn, blocks: turn.blocks.flatMap(attach) }))
    .filter((turn) => turn.blocks.length > 0);
}
