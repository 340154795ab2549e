/** Assembles streamed tool calls, whatever their vendor omits. */
import type { Json, JsonObject, Origin, Warnings } from '../../../../core/plugin.ts';
import { isObject, type Opaque, type Part, parsed, type ToolCallBlock } from '../../../../core/translation/index.ts';
import { type CallPiece, newCallId, readCallPiece } from '../fields/calls.ts';
import { omitFromCall } from '../fields/members.ts';

interface Growing {
  id: string;
  /** The vendor's id, if it is not unique in the answer. */
  given: string;
  name: string;
  kind: ToolCallBlock['kind'];
  /** Undefined until the call has a name and its `start` part was pushed. */
  key: number | undefined;
  readonly input: GrowingJson;
  /** Arguments not pushed yet. */
  unsent: string;
  /** The number of calls before it. */
  readonly place: number;
  opaque: Opaque | undefined;
}

/** The index for a legacy call, which has none. */
const OLDER = -1;

/**
 * `push` gets the parts. A call stays open until `close`, because pieces of several calls can be interleaved. `answer`
 * is a chunk that identifies the answer.
 */
export function createCallReader(
  from: Origin,
  warnings: Warnings,
  { newKey, push, answer }: { newKey(): number; push(part: Part): void; answer(): JsonObject },
) {
  const calls: Growing[] = [];
  const byIndex = new Map<number, Growing>();
  /** Calls by the vendor's id; for duplicate ids, the first. */
  const byGiven = new Map<string, Growing>();
  const omitted = new Set<string>();

  /**
   * The call that a piece belongs to. The index decides, but some servers omit it and others send the same one for every
   * call: there, a new id, or a name after complete arguments, starts a new call.
   */
  function find(index: number | undefined, { id, name }: CallPiece): Growing | undefined {
    const there = index === undefined ? undefined : byIndex.get(index);
    if (there !== undefined && id !== '' && there.given === id) return there;
    const same = byGiven.get(id);
    if (there === undefined) {
      if (same !== undefined && (index === undefined || name === '')) return same;
      return index === undefined && id === '' && name === '' ? calls.at(-1) : undefined;
    }
    if (same !== undefined) return same;
    if (name === '' || there.name === '') return there;
    const isNew = (id !== '' && there.given !== '') || there.input.isWhole();
    return isNew ? undefined : there;
  }

  function addPiece(index: number | undefined, piece: CallPiece): void {
    let call = find(index, piece);
    if (call === undefined) {
      // Two calls with one id could not be answered.
      const place = calls.length;
      const id = byGiven.has(piece.id) ? newCallId(answer(), place) : piece.id;
      call = {
        id,
        given: piece.id,
        name: '',
        kind: piece.kind,
        key: undefined,
        input: growJson(),
        unsent: '',
        place,
        opaque: undefined,
      };
      calls.push(call);
    }
    if (index !== undefined) byIndex.set(index, call);
    call.id ||= piece.id;
    call.given ||= piece.id;
    if (piece.id !== '' && call.given === piece.id && !byGiven.has(piece.id)) byGiven.set(piece.id, call);
    call.name ||= piece.name;
    if (piece.kind === 'custom') call.kind = 'custom';
    // Leading whitespace is meaningless, and alone it is not JSON.
    const more = call.kind === 'function' && call.input.text() === '' ? piece.input.trimStart() : piece.input;
    call.input.add(more);
    call.unsent += more;
    if (piece.opaque !== undefined) {
      call.opaque = piece.opaque;
      if (call.key !== undefined) push({ type: 'opaque', key: call.key, opaque: piece.opaque });
    }
    // An id may arrive after the name, but not after the arguments.
    if (call.name !== '' && (call.id !== '' || call.input.text() !== '')) send(call);
  }

  function send(call: Growing): void {
    if (call.key === undefined) {
      call.key = newKey();
      call.id ||= newCallId(answer(), call.place);
      const { id, name, kind, opaque } = call;
      const block = { type: 'toolCall', id, name, kind, input: '', ...(opaque !== undefined && { opaque }) } as const;
      push({ type: 'blockStart', key: call.key, block });
    }
    if (call.unsent === '') return;
    push({ type: 'delta', key: call.key, text: call.unsent });
    call.unsent = '';
  }

  return {
    /** Adds one entry of `tool_calls`. */
    read(entry: Json): void {
      if (!isObject(entry)) return;
      omitFromCall(entry, warnings, omitted);
      addPiece(typeof entry.index === 'number' ? entry.index : undefined, readCallPiece(entry, from));
    },
    /** Adds a piece of a legacy `function_call`, of which a reply has at most one. */
    readFunction(call: JsonObject): void {
      // Some servers send a call in both notations; it is one call.
      if (calls.length > 0 && !byIndex.has(OLDER)) return;
      const entry = { function: call };
      omitFromCall(entry, warnings, omitted);
      const piece = readCallPiece(entry, from);
      if (piece.name !== '' || piece.input !== '') addPiece(OLDER, piece);
    },
    /** Ends all calls. */
    close(): void {
      for (const call of calls) {
        if (call.name !== '') send(call);
        else if (call.input.text() !== '') warnings.omit('tool_calls');
        if (call.key !== undefined) push({ type: 'blockEnd', key: call.key });
      }
    },
    /** True if a call has arrived. */
    any: (): boolean => calls.some(({ name }) => name !== ''),
    /** True if the arguments of a call are incomplete. */
    broken(): boolean {
      return calls.some(({ kind, input }) => {
        const text = input.text();
        return kind === 'function' && text !== '' && parsed(text) === undefined;
      });
    },
  };
}

/** Numbers and literals have no end mark; longer ones than this are not arguments of a call. */
const MAX_WORD = 64;

const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Creates an empty one. */
function growJson() {
  let text = '';
  let depth = 0;
  let quoted = false;
  let escaped = false;
  let begun = false;
  /** The outermost value is closed. */
  let closed = false;
  /** Something follows the value. */
  let spoilt = false;
  /** The result of parsing, once the value was closed. */
  let isValid: boolean | undefined;

  function see(unit: number): void {
    if (escaped) escaped = false;
    else if (quoted) {
      if (unit === BACKSLASH) escaped = true;
      else if (unit === QUOTE) quoted = false;
      closed = !quoted && depth === 0;
    } else if (unit > SPACE) {
      spoilt ||= closed;
      begun = true;
      if (unit === QUOTE) quoted = true;
      else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) depth++;
      else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) closed = --depth <= 0;
    }
  }

  return {
    add(piece: string): void {
      text += piece;
      for (let i = 0; i < piece.length; i++) see(piece.charCodeAt(i));
    },
    /** All pieces so far. */
    text: (): string => text,
    isWhole(): boolean {
      if (!closed) return begun && depth === 0 && !quoted && text.length <= MAX_WORD && parsed(text) !== undefined;
      if (spoilt) return false;
      isValid ??= parsed(text) !== undefined;
      return isValid;
    },
  };
}

/** A JSON value that arrives in pieces. */
type GrowingJson = ReturnType<typeof growJson>;
