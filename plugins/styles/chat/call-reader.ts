/** Puts the pieces of streamed tool calls together, whatever their vendor leaves out. */
import type { Json, JsonObject, Losses, Origin } from '../../../core/plugin.ts';
import type { Opaque, Part, ToolCallBlock } from '../../../core/translation/index.ts';
import { isObject, parsed } from '../../../core/translation/index.ts';
import { type CallPiece, newCallId, readCallPiece } from './calls.ts';
import { type GrowingJson, growJson } from './growing-json.ts';
import { omitFromCall } from './members.ts';

/** Reads the calls of one stream. */
export interface CallReader {
  /** One entry of `tool_calls`. */
  read(entry: Json): void;
  /** A piece of a call of the older kind, of which an answer has one at most. */
  readFunction(call: JsonObject): void;
  /** Ends them all. */
  close(): void;
  /** A call has come. */
  any(): boolean;
  /** A call's arguments stop in the middle. */
  broken(): boolean;
}

interface Growing {
  id: string;
  /** The id that the vendor gives it, where that cannot be its own. */
  given: string;
  name: string;
  kind: ToolCallBlock['kind'];
  /** Undefined until it has begun for others: that needs its name. */
  key: number | undefined;
  readonly input: GrowingJson;
  /** What others have not got yet. */
  untold: string;
  /** How many calls came before it. */
  readonly place: number;
  opaque: Opaque | undefined;
}

/** The place of a call of the older kind, which tells none. */
const OLDER = -1;

/**
 * `push` gets the parts; a call stays open until `close`, because its pieces may come between those of others. `answer` is a
 * chunk that says which answer it is.
 */
export function createCallReader(
  from: Origin,
  losses: Losses,
  { newKey, push, answer }: { newKey(): number; push(part: Part): void; answer(): JsonObject },
): CallReader {
  const calls: Growing[] = [];
  const byIndex = new Map<number, Growing>();
  /** By the ids that the vendor gave them; of several with one id the first. */
  const byGiven = new Map<string, Growing>();
  const omitted = new Set<string>();

  /**
   * The call that a piece belongs to. The index says it, but there are servers that leave it out, and others that give the same
   * to every call; there a new id, or a name behind whole arguments, is a new call.
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

  function take(index: number | undefined, piece: CallPiece): void {
    let call = find(index, piece);
    if (call === undefined) {
      // Two calls of one id could not be answered.
      const place = calls.length;
      const id = byGiven.has(piece.id) ? newCallId(answer(), place) : piece.id;
      call = {
        id,
        given: piece.id,
        name: '',
        kind: piece.kind,
        key: undefined,
        input: growJson(),
        untold: '',
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
    // Before arguments a blank means nothing, and alone no client can read it.
    const more = call.kind === 'function' && call.input.text() === '' ? piece.input.trimStart() : piece.input;
    call.input.add(more);
    call.untold += more;
    if (piece.opaque !== undefined) {
      call.opaque = piece.opaque;
      if (call.key !== undefined) push({ type: 'opaque', key: call.key, opaque: piece.opaque });
    }
    // An id may come after the name, but not after the arguments.
    if (call.name !== '' && (call.id !== '' || call.input.text() !== '')) tell(call);
  }

  function tell(call: Growing): void {
    if (call.key === undefined) {
      call.key = newKey();
      call.id ||= newCallId(answer(), call.place);
      const { id, name, kind, opaque } = call;
      const block = { type: 'toolCall', id, name, kind, input: '', ...(opaque !== undefined && { opaque }) } as const;
      push({ type: 'blockStart', key: call.key, block });
    }
    if (call.untold === '') return;
    push({ type: 'delta', key: call.key, text: call.untold });
    call.untold = '';
  }

  return {
    read(entry) {
      if (!isObject(entry)) return;
      omitFromCall(entry, losses, omitted);
      take(typeof entry.index === 'number' ? entry.index : undefined, readCallPiece(entry, from));
    },
    readFunction(call) {
      // Some servers tell a call in both ways; it is one call.
      if (calls.length > 0 && !byIndex.has(OLDER)) return;
      const entry = { function: call };
      omitFromCall(entry, losses, omitted);
      const piece = readCallPiece(entry, from);
      if (piece.name !== '' || piece.input !== '') take(OLDER, piece);
    },
    close() {
      for (const call of calls) {
        if (call.name !== '') tell(call);
        else if (call.input.text() !== '') losses.omit('tool_calls');
        if (call.key !== undefined) push({ type: 'blockEnd', key: call.key });
      }
    },
    any() {
      return calls.some(({ name }) => name !== '');
    },
    broken() {
      return calls.some(({ kind, input }) => {
        const text = input.text();
        return kind === 'function' && text !== '' && parsed(text) === undefined;
      });
    },
  };
}
