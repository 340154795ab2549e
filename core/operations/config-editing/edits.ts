/** Changes values in the text of gateway.yaml and leaves everything else as it is: comments, order, spacing, quotes. */
import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { pathText } from '../../config/file.ts';
import { type Path, parseYaml } from '../../config/yaml.ts';
import type { TextEdit } from '../../contracts/configuring.ts';
import type { Json } from '../../contracts/formats/json.ts';

/** More readings of the text would block the process: changes are proven by reading it again, as many as possible at once. */
const MOST_READS = 500;
/** The most characters that are read for all changes of one request. */
const MOST_READ = 4_000_000;

/**
 * Applies edits one after the other. Comments stay unless they are inside or on the line of a removed value. Throws a
 * `RangeError` that names the path of an edit that is impossible.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  for (const { path, rename } of edits) {
    const isReserved = rename === '__proto__' || path.includes('__proto__');
    if (isReserved) throw new RangeError(`${pathText(path)}: __proto__ cannot be used as a name`);
  }
  const changes = createChanges(text);
  for (let next = 0; next < edits.length; ) {
    const added = newOnes(edits, next, changes.value());
    const path = edits[next]!.path.slice(0, -1);
    const taken: readonly Step[] =
      added.length > 1 ? [{ kind: 'add', path, added }] : stepsOf(edits[next]!, changes.value());
    for (const step of taken) changes.make(step);
    next += Math.max(added.length, 1);
  }
  return withLineEndsOf(text, changes.text());
}

/** A text with CR LF at the end of each line, if `like` has: editors of browsers leave only LF. */
export function withLineEndsOf(like: string, text: string): string {
  return like.includes('\r\n') && !/(?<!\r)\n/.test(like) ? text.replace(/\r?\n/g, '\r\n') : text;
}

/** What the edits from `first` on add to one map or list that is not empty: one step for many models or channels. */
function newOnes(
  edits: readonly TextEdit[],
  first: number,
  whole: unknown,
): readonly (readonly [place: string | number, value: Json])[] {
  const path = edits[first]!.path.slice(0, -1);
  const holder = valueAt(whole, path);
  if (typeof holder !== 'object' || holder === null || isVacant(holder)) return [];
  const names = new Set<string>();
  const added: (readonly [string | number, Json])[] = [];
  for (let at = first; at < edits.length; at++) {
    const { path: place, value, remove, rename } = edits[at]!;
    const last = place.at(-1);
    const isNew = Array.isArray(holder)
      ? last === holder.length + added.length
      : typeof last === 'string' && !names.has(last) && !Object.hasOwn(holder, last);
    if (!isNew || !isDeepStrictEqual(place.slice(0, -1), path)) break;
    if (value === undefined || remove === true || rename !== undefined) break;
    names.add(String(last));
    added.push([last as string | number, value]);
  }
  return added;
}

/** Whether a map or a list has no member. */
function isVacant(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

function valueAt(whole: unknown, path: Path): unknown {
  return path.reduce(memberOf, whole);
}

/** An own member: what JavaScript gives every object, such as `__proto__`, is none. */
function memberOf(holder: unknown, name: string | number): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
    ? (holder as Record<string | number, unknown>)[name]
    : undefined;
}

function stepsOf({ path, value, remove, rename }: TextEdit, whole: unknown): readonly Step[] {
  if (remove === true) return [{ kind: 'remove', path }];
  if (rename !== undefined) return [{ kind: 'rename', path, name: rename }];
  if (value !== undefined) return stepsTo(whole, path, value);
  throw new RangeError(`${pathText(path)} has neither \`value\` nor \`remove\` nor \`rename\``);
}

/** A change of one place. */
type Step =
  | { readonly kind: 'set'; readonly path: Path; readonly value: Json }
  /** `path`: of a map that is not empty and has none of these members, or of a list that is not empty and ends before these items. */
  | { readonly kind: 'add'; readonly path: Path; readonly added: ReturnType<typeof newOnes> }
  | { readonly kind: 'remove'; readonly path: Path }
  | { readonly kind: 'rename'; readonly path: Path; readonly name: string };

/** The smallest steps that make the value at a path equal to `value`, so that what is equal keeps its comments. */
function stepsTo(whole: unknown, path: Path, value: Json): readonly Step[] {
  const now = valueAt(whole, path);
  if (isDeepStrictEqual(now, value)) return [];
  if (Array.isArray(now) && Array.isArray(value) && now.length > 0 && value.length > 0) {
    const kept = Math.min(now.length, value.length);
    return [
      ...value.flatMap((item, i) => (i < kept ? stepsTo(whole, [...path, i], item) : [])),
      ...now.slice(kept).map(() => ({ kind: 'remove' as const, path: [...path, kept] })),
      ...value.slice(kept).map((item, i) => ({ kind: 'set' as const, path: [...path, kept + i], value: item })),
    ];
  }
  if (isPlainMap(now) && isPlainMap(value) && Object.keys(now).some((name) => name in value)) {
    return [
      ...Object.keys(now).flatMap((name) =>
        name in value ? [] : [{ kind: 'remove' as const, path: [...path, name] }],
      ),
      ...Object.entries(value).flatMap(([name, member]) => stepsTo(whole, [...path, name], member as Json)),
    ];
  }
  return [{ kind: 'set', path, value }];
}

function isPlainMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Changes of a text that are made one after the other. */
interface Changes {
  /** The values after all changes so far; must not be changed. */
  value(): unknown;
  /** Throws a `RangeError` if a change is impossible. */
  make(step: Step): void;
  /** The text after all changes. */
  text(): string;
}

/**
 * Changes a text. Changes at different places are collected, put into the text at once, and proven by reading it once: thousands take as long as a few.
 * One that could mean something else after those before it is made after them.
 */
function createChanges(text: string): Changes {
  let known = read(text);
  const value = structuredClone(known.value);
  let waiting: { readonly step: Step; readonly edit: Edit }[] = [];
  let touched = createTouched();
  let reads = 0;

  function readOnce(): void {
    const most = Math.min(MOST_READS, Math.ceil(MOST_READ / known.text.length));
    if (++reads > most) throw new RangeError(`more than ${most} values change; edit the text itself`);
  }

  function settle(): void {
    const done = waiting;
    waiting = [];
    touched = createTouched();
    if (done.length === 0) return;
    readOnce();
    const next = done.length > 1 ? together(known, done, value) : undefined;
    if (next !== undefined) {
      known = next;
      return;
    }
    for (const [i, { step }] of done.entries()) {
      if (i > 0) readOnce();
      known = changed(known, step);
    }
  }

  return {
    value: () => value,
    make(step) {
      let edit = waiting.length === 0 ? undefined : editIfPossible(known, step);
      if (edit === undefined || touched.meets(edit.touch)) {
        settle();
        edit = undefined;
      }
      advance(value, step);
      edit ??= editOf(known.doc, known.text, step);
      waiting.push({ step, edit });
      touched.add(edit.touch);
    },
    text() {
      settle();
      return known.text;
    },
  };
}

function editIfPossible({ doc, text }: Known, step: Step): Edit | undefined {
  try {
    return editOf(doc, text, step);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The text with all of the edits; undefined if they overlap, or if the text then has not exactly the expected values. */
function together({ text }: Known, edits: readonly { readonly edit: Edit }[], expected: unknown): Known | undefined {
  // Those at the same offset stay in their order.
  const sorted = edits.map(({ edit }) => edit).sort((a, b) => a.start - b.start);
  let put = '';
  let at = 0;
  for (const edit of sorted) {
    if (edit.start < at) return undefined;
    put += text.slice(at, edit.start) + edit.put;
    at = edit.end;
  }
  try {
    const next = read(put + text.slice(at));
    return isDeepStrictEqual(next.value, expected) ? next : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** What an edit changes: the value at a path, the end of the map or list at a path, or which members that has. */
interface Touch {
  readonly kind: 'value' | 'end' | 'members';
  readonly path: Path;
  /** Members behind the end. */
  readonly added?: readonly (string | number)[];
}

/** Remembers what edits change, to find out whether another one depends on them. */
function createTouched() {
  const values = new Set<string>();
  const ends = new Set<string>();
  const members = new Set<string>();
  /** Places with a change in them, and with a change of members in them. */
  const above = new Set<string>();
  const aboveMembers = new Set<string>();
  const idOf = (path: Path): string => JSON.stringify(path);
  const upTo = (path: Path): readonly string[] => [...path, ''].map((_, i) => idOf(path.slice(0, i)));

  return {
    add({ kind, path, added = [] }: Touch): void {
      const [id, places] = [idOf(path), upTo(path)];
      if (kind === 'value') values.add(id);
      else if (kind === 'end') ends.add(id);
      else members.add(id);
      for (const name of added) values.add(idOf([...path, name]));
      for (const place of kind === 'value' ? places.slice(0, -1) : places) {
        above.add(place);
        if (kind === 'members') aboveMembers.add(place);
      }
    },

    /** Whether an edit depends on the order in which it and those before it are made. */
    meets({ kind, path, added = [] }: Touch): boolean {
      const [id, places] = [idOf(path), upTo(path)];
      if (places.some((place) => values.has(place) || members.has(place))) return true;
      if (kind !== 'end') return above.has(id);
      return (
        places.some((place) => ends.has(place)) ||
        aboveMembers.has(id) ||
        added.some((name) => above.has(idOf([...path, name])))
      );
    },
  };
}

/** Makes one change and proves it: the new text has exactly the expected values. */
function changed({ doc, text, value }: Known, step: Step): Known {
  const expected = structuredClone(value);
  advance(expected, step);
  const edit = editOf(doc, text, step);
  const next = read(text.slice(0, edit.start) + edit.put + text.slice(edit.end));
  if (isDeepStrictEqual(next.value, expected)) return next;
  throw new RangeError(`${pathText(step.path)} cannot be changed without changing other values; edit the text itself`);
}

interface Known {
  readonly text: string;
  readonly doc: Document;
  readonly value: unknown;
}

function read(text: string): Known {
  const { doc, problems } = parseYaml(text);
  if (problems.length > 0) throw new RangeError(`the text is not YAML: ${problems[0]!.message}`);
  try {
    // Copied, so that what aliases repeat are different values.
    return { text, doc, value: JSON.parse(JSON.stringify(doc.toJS() ?? {})) };
  } catch {
    throw new RangeError('the text repeats too much of itself by aliases (*name)');
  }
}

/** Changes the values by a step. Throws if it is impossible. */
function advance(whole: unknown, step: Step): void {
  const { path } = step;
  if (step.kind === 'add') {
    const holder = valueAt(whole, path) as Record<string | number, unknown>;
    for (const [name, value] of step.added) holder[name] = structuredClone(value);
    return;
  }
  let holder = whole as Record<string | number, unknown>;
  for (const [i, name] of path.slice(0, -1).entries()) {
    const next = memberOf(holder, name);
    if (next === undefined || next === null) {
      if (step.kind !== 'set') throw new RangeError(`${pathText(path)} does not exist`);
      if (Array.isArray(holder) && name !== holder.length)
        throw new RangeError(`${pathText(path)} is behind the end of the list`);
      holder[name] = typeof path[i + 1] === 'number' ? [] : {};
    } else if (typeof next !== 'object') {
      throw new RangeError(`${pathText(path.slice(0, i + 1))} is neither a map nor a list`);
    }
    holder = holder[name] as Record<string | number, unknown>;
  }
  const last = path.at(-1)!;
  if (Array.isArray(holder) !== (typeof last === 'number')) throw new RangeError(`${pathText(path)} does not exist`);
  const exists = Object.hasOwn(holder, last);
  if (step.kind === 'set') {
    if (Array.isArray(holder) && (last as number) > holder.length)
      throw new RangeError(`${pathText(path)} is behind the end of the list`);
    holder[last] = structuredClone(step.value);
    return;
  }
  if (!exists) throw new RangeError(`${pathText(path)} does not exist`);
  if (step.kind === 'remove') {
    if (Array.isArray(holder)) holder.splice(last as number, 1);
    else delete holder[last];
    return;
  }
  if (Array.isArray(holder)) throw new RangeError(`${pathText(path)} has no name`);
  if (step.name !== last && Object.hasOwn(holder, step.name))
    throw new RangeError(`${pathText([...path.slice(0, -1), step.name])} exists`);
  const value = holder[last];
  delete holder[last];
  holder[step.name] = value;
}

/** A replacement in the text. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly put: string;
}

/** The same with what it changes. */
interface Edit extends Replacement {
  readonly touch: Touch;
}

/** A map or list and the way to it. */
interface Holder {
  readonly node: YAMLMap<Node, Node | null> | YAMLSeq<Node>;
  /** The pair whose value it is; undefined: it is the root, or an item of a list. */
  readonly pair: Pair<Node, Node | null> | undefined;
}

function editOf(doc: Document, text: string, step: Step): Edit {
  const { path } = step;
  const touching = (kind: Touch['kind'], place: Path, edit: Replacement, added?: Touch['added']): Edit => ({
    ...edit,
    touch: { kind, path: place, ...(added && { added }) },
  });
  let node = doc.contents as Node | null;
  let pair: Holder['pair'];
  for (const [i, name] of path.entries()) {
    const above = path.slice(0, i);
    if (isAlias(node)) throw new RangeError(`${pathText(above)} is an alias (*name); edit the text itself`);
    const isEmpty = node === null || (isScalar(node) && node.value === null);
    if (isEmpty && step.kind === 'set')
      return touching('value', above, filled(text, node, pair, nested(path.slice(i), step.value)));
    if (!isMap(node) && !isSeq(node)) throw new RangeError(`${pathText(path)} does not exist`);
    const holder = { node: node as Holder['node'], pair };
    const isLast = i === path.length - 1;
    const below = isMap<Node, Node | null>(holder.node)
      ? pairOf(holder.node, String(name))
      : (holder.node.items[name as number] as Node | undefined);
    if (below === undefined) {
      if (step.kind !== 'set') throw new RangeError(`${pathText(path)} does not exist`);
      return touching('end', above, added(text, holder, name, nested(path.slice(i + 1), step.value)), [name]);
    }
    const isPair = isMap(holder.node);
    if (isLast && step.kind === 'remove') {
      const at = isPair ? holder.node.items.indexOf(below as never) : (name as number);
      return touching('members', above, removed(text, holder, at));
    }
    if (isLast && step.kind === 'rename') {
      const range = rangeOf((below as Pair<Node>).key);
      return touching('members', above, { ...range, put: scalarText(step.name) });
    }
    if (isLast && step.kind === 'set') return touching('value', path, replaced(text, holder, below, step.value));
    pair = isPair ? (below as Pair<Node, Node | null>) : undefined;
    node = isPair ? (below as Pair<Node, Node | null>).value : (below as Node);
  }
  if (step.kind === 'add' && (isMap(node) || isSeq(node))) {
    const edit = addedAll(text, { node: node as Holder['node'], pair }, step.added);
    return touching(
      'end',
      path,
      edit,
      step.added.map(([name]) => name),
    );
  }
  throw new RangeError(
    path.length === 0 ? 'the path is empty' : `${pathText(path)} is an alias (*name); edit the text itself`,
  );
}

/** The members of maps by name; of several with the same one, the first. */
const pairs = new WeakMap<object, ReadonlyMap<string, Pair<Node, Node | null>>>();

function pairOf(map: YAMLMap<Node, Node | null>, name: string): Pair<Node, Node | null> | undefined {
  let known = pairs.get(map);
  if (known === undefined) {
    const scalars = map.items.filter(({ key }) => isScalar(key) && typeof key.value === 'string');
    known = new Map(
      scalars.toReversed().map((pair) => [(pair.key as { readonly value?: unknown }).value as string, pair]),
    );
    pairs.set(map, known);
  }
  return known.get(name);
}

/** `value` at the rest of a path that does not exist yet. */
function nested(rest: Path, value: Json): Json {
  return rest.reduceRight<Json>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
}

// ---- positions

function rangeOf(node: Node): { readonly start: number; readonly end: number } {
  const [start, end] = node.range!;
  return { start, end };
}

/** Where the content of a node ends: the range of a block collection also contains the comments behind it. */
function endOf(node: Node | null, fallback: number): number {
  if (node === null || node.range == null) return fallback;
  if (isMap<Node, Node | null>(node) && node.flow !== true) {
    const last = node.items.at(-1);
    return last === undefined ? node.range[1] : endOf(last.value, rangeOf(last.key).end + 1);
  }
  if (isSeq<Node>(node) && node.flow !== true) return endOf(node.items.at(-1) ?? null, node.range[1]);
  return node.range[1];
}

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

/** The end of a line, before its line break; `at` behind a line break, as after a block scalar, counts as its line. */
function lineEnd(text: string, at: number): number {
  if (at > 0 && text[at - 1] === '\n') return at - 1;
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Behind the line of `at` and the comments that are indented deeper than `column`: they belong to what ends there. */
function blockEnd(text: string, at: number, column: number): number {
  const end = lineEnd(text, at);
  const [comments] = new RegExp(`^(?:\\n {${column + 1},}#[^\\n]*)*`).exec(text.slice(end))!;
  return end + comments.length;
}

const columnOf = (text: string, at: number): number => at - lineStart(text, at);

/** The first and the last offset of an item or a pair. */
function spanOf(text: string, { node }: Holder, i: number): { readonly start: number; readonly end: number } {
  const item = node.items[i] as Node | Pair<Node, Node | null>;
  if (isMap(node)) {
    const { key, value } = item as Pair<Node, Node | null>;
    const start = propsStart(text, rangeOf(key).start);
    return { start, end: endOf(value, rangeOf(key).end + 1) };
  }
  const { start } = rangeOf(item as Node);
  if (node.flow === true) return { start, end: (item as Node).range![1] };
  return { start: text.lastIndexOf('-', propsStart(text, start) - 1), end: endOf(item as Node, start) };
}

/** The offset of an anchor in front of a node, or of the node. */
function propsStart(text: string, start: number): number {
  const anchor = /&\S+\s+$/.exec(text.slice(lineStart(text, start), start));
  return anchor === null ? start : start - anchor[0].length;
}

// ---- edits

/** An empty value, or an empty document, becomes `value`. */
function filled(text: string, node: Node | null, pair: Holder['pair'], value: Json): Replacement {
  if (pair === undefined) {
    if (
      text.trim() !== '' &&
      node?.range != null &&
      text.slice(...(node.range.slice(0, 2) as [number, number])).trim() !== ''
    )
      return { ...rangeOf(node), put: blockText(value, 0).trimStart() };
    const gap = text === '' || text.endsWith('\n') ? '' : '\n';
    return { start: text.length, end: text.length, put: `${gap}${blockText(value, 0).replace(/^\n/, '')}\n` };
  }
  return valueEdit(text, pair, value);
}

/** Replaces what is behind the colon of a pair in a block. */
function valueEdit(text: string, { key, value: old }: Pair<Node, Node | null>, value: Json): Replacement {
  const colon = text.indexOf(':', rangeOf(key).end);
  const isBlock = (isMap(old) || isSeq(old)) && old.flow !== true;
  const isThere = old?.range != null && old.range[1] > old.range[0];
  if (!isBlock && isThere) {
    const { start, end } = rangeOf(old);
    const isText = isScalar(old) && old.type?.startsWith('BLOCK') === true;
    const inline = inlineText(value);
    if (isText) return { start: text.lastIndexOf(text[start]!, start), end: lineEnd(text, end), put: inline };
    return { start, end, put: inline };
  }
  const end = isBlock ? lineEnd(text, endOf(old, colon + 1)) : colon + 1;
  const inline = inlineText(value);
  if (inline.length <= LONGEST_LINE || isBlock === false) return { start: colon + 1, end, put: ` ${inline}` };
  return { start: colon + 1, end, put: blockText(value, columnOf(text, rangeOf(key).start) + INDENT) };
}

function replaced(text: string, { node }: Holder, below: Node | Pair<Node, Node | null>, value: Json): Replacement {
  if (isMap(node) && node.flow !== true) return valueEdit(text, below as Pair<Node, Node | null>, value);
  const old = isMap(node) ? (below as Pair<Node, Node | null>).value : (below as Node);
  if (old?.range == null || old.range[0] === old.range[1]) {
    if (!isMap(node)) return { start: old?.range?.[0] ?? 0, end: old?.range?.[0] ?? 0, put: ` ${inlineText(value)}` };
    const { end } = rangeOf((below as Pair<Node>).key);
    const colon = /^\s*:/.exec(text.slice(end))?.[0].length ?? 0;
    return { start: end, end: end + colon, put: `: ${inlineText(value)}` };
  }
  return { start: old.range[0], end: endOf(old, old.range[1]), put: inlineText(value) };
}

function added(text: string, { node, pair }: Holder, name: string | number, value: Json): Replacement {
  const written = isMap(node) ? `${scalarText(String(name))}: ` : '';
  if (node.items.length === 0) {
    const whole = isMap(node) ? { [name]: value } : [value];
    return { ...rangeOf(node), put: inlineText(whole as Json) };
  }
  const last = spanOf(text, { node, pair }, node.items.length - 1);
  if (node.flow === true) return { start: last.end, end: last.end, put: `, ${written}${inlineText(value)}` };
  const column = columnOf(text, spanOf(text, { node, pair }, 0).start);
  const indent = ' '.repeat(column);
  const at = blockEnd(text, last.end, column);
  const inline = inlineText(value);
  if (!isMap(node)) return { start: at, end: at, put: `\n${indent}- ${inline}` };
  const put = inline.length <= LONGEST_LINE ? ` ${inline}` : blockText(value, column + INDENT);
  return { start: at, end: at, put: `\n${indent}${written.trimEnd()}${put}` };
}

/** Several members of a map, or items of a list, that is not empty: all are put at one place. */
function addedAll(text: string, holder: Holder, all: ReturnType<typeof newOnes>): Replacement {
  const edits = all.map(([name, value]) => added(text, holder, name, value));
  return { ...edits[0]!, put: edits.map(({ put }) => put).join('') };
}

function removed(text: string, holder: Holder, i: number): Replacement {
  const { node, pair } = holder;
  const { start, end } = spanOf(text, holder, i);
  if (node.flow === true) return removedInFlow(text, holder, i);
  const from = lineStart(text, start);
  const isFirstOfLine = text.slice(from, start).trim() === '';
  const until = Math.min(blockEnd(text, end, columnOf(text, start)) + 1, text.length);
  if (node.items.length > 1) {
    if (isFirstOfLine) return { start: from, end: until, put: '' };
    // The first member behind `- `: the next one takes its place.
    const next = spanOf(text, holder, i + 1).start;
    const between = text.slice(until, lineStart(text, next));
    return {
      start,
      end: next,
      put: between.trim() === '' ? '' : `${between.trimStart()}${' '.repeat(columnOf(text, start))}`,
    };
  }
  const empty = isMap(node) ? '{}' : '[]';
  if (pair === undefined || !isFirstOfLine) return { start, end: lineEnd(text, end), put: empty };
  const colon = text.indexOf(':', rangeOf(pair.key).end) + 1;
  return { start: colon, end: until, put: ` ${empty}${text.slice(colon, from)}` };
}

function removedInFlow(text: string, holder: Holder, i: number): Replacement {
  const { node } = holder;
  const { start, end } = spanOf(text, holder, i);
  const before = i > 0 ? spanOf(text, holder, i - 1).end : undefined;
  const after = i + 1 < node.items.length ? spanOf(text, holder, i + 1).start : undefined;
  const isPlain = (gap: string): boolean => !/[#\n]/.test(gap);
  if (after !== undefined && isPlain(text.slice(end, after))) return { start, end: after, put: '' };
  if (before !== undefined && isPlain(text.slice(before, start))) return { start: before, end, put: '' };
  const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0;
  return { start, end: end + comma, put: '' };
}

// ---- how values are written

const INDENT = 2;
/** Longer values of a block are written below their name, one line for each member. */
const LONGEST_LINE = 100;

/** A value in one line. */
function inlineText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inlineText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return scalarText(value as string | number | boolean | null);
  const members = Object.entries(value).map(([name, member]) => `${scalarText(name)}: ${inlineText(member as Json)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** A value on lines of its own below its name; `''`-terminated. */
function blockText(value: Json, column: number): string {
  const indent = ' '.repeat(column);
  const line = (start: string, member: Json): string => {
    const inline = inlineText(member);
    const isLong = inline.length > LONGEST_LINE && typeof member === 'object' && member !== null;
    return `\n${indent}${start}${isLong && !start.startsWith('-') ? blockText(member, column + INDENT) : ` ${inline}`}`;
  };
  if (Array.isArray(value) && value.length > 0) return value.map((item) => line('-', item)).join('');
  if (isPlainMap(value) && Object.keys(value).length > 0)
    return Object.entries(value)
      .map(([name, member]) => line(`${scalarText(name)}:`, member as Json))
      .join('');
  return ` ${inlineText(value)}`;
}

/** Text that YAML 1.1 and 1.2 read as the same text without quotes, also inside brackets. */
const PLAIN = /^[A-Za-z_][\w./@+-]*$/;
const OTHER = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function scalarText(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  if (PLAIN.test(value) && !OTHER.test(value)) return value;
  // JSON is YAML, except for these separators, which YAML 1.1 reads as line breaks.
  return JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
