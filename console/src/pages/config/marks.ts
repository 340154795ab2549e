/** What the parts of a YAML text are: keys, values, comments, references; and which key of the file each belongs to. */
import { isAlias, isMap, isScalar, isSeq, Lexer, type Node, parseDocument, type Scalar } from 'yaml';

/** From the root of the file: names of members, places in lists. */
export type Path = readonly (string | number)[];

/** What a part is. */
export type MarkKind = 'key' | 'string' | 'number' | 'word' | 'reference' | 'alias' | 'comment';

/** A part of the text. They are in order, and none reaches into another. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly kind: MarkKind;
  /** The key that it is, or whose value it is; a comment is of none. */
  readonly path: Path | undefined;
}

/** Of the sections that were looked at last: whoever types changes one of them, and the others need not be read anew. */
let known: ReadonlyMap<string, readonly Mark[]> = new Map();

/** All parts of a text; of one that is broken, as many as can be told. */
export function marksOf(text: string): readonly Mark[] {
  const seen = new Map<string, readonly Mark[]>();
  const marks: Mark[] = [];
  let offset = 0;
  // What stands at the beginning of a line and is no comment begins a section.
  for (const section of text.split(/^(?=[^\s#])/m)) {
    const inside = known.get(section) ?? seen.get(section) ?? marksOfSection(section);
    seen.set(section, inside);
    for (const mark of inside) marks.push({ ...mark, start: mark.start + offset, end: mark.end + offset });
    offset += section.length;
  }
  known = seen;
  return marks;
}

function marksOfSection(text: string): readonly Mark[] {
  const marks: Mark[] = [];
  const add = (start: number, end: number, kind: MarkKind, path: Path | undefined): void => {
    if (end > start) marks.push({ start, end, kind, path });
  };
  const scalar = (node: Scalar, path: Path, kind: MarkKind): void => {
    const [from = 0, to = 0] = node.range ?? [];
    let at = from;
    for (const { start, end } of kind === 'key' ? [] : referencesIn(text, from, to)) {
      add(at, start, kind, path);
      add(start, end, 'reference', path);
      at = end;
    }
    add(at, to, kind, path);
  };
  const walk = (node: Node | null, path: Path): void => {
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : '';
        if (isScalar(key)) scalar(key, [...path, name], 'key');
        walk(value as Node | null, [...path, name]);
      }
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item as Node | null, [...path, index]);
    } else if (isScalar(node)) scalar(node, path, kindOf(node));
    else if (isAlias(node)) add(node.range?.[0] ?? 0, node.range?.[1] ?? 0, 'alias', path);
  };
  try {
    walk(parseDocument(text, { prettyErrors: false, uniqueKeys: false, schema: 'core' }).contents, []);
  } catch {
    // Nested too deeply for the parser: it is shown as it is.
    marks.length = 0;
  }
  for (const { start, end } of commentsIn(text)) add(start, end, 'comment', undefined);
  return marks.sort((a, b) => a.start - b.start).filter((mark, at, all) => mark.start >= (all[at - 1]?.end ?? 0));
}

/** The part that a place of the text is in, or touches the end of. */
export function markAt(marks: readonly Mark[], offset: number): Mark | undefined {
  return marks[indexAt(marks, offset)];
}

/** The key that a line is about: that of its first part which is of one. */
export function pathOfLine(marks: readonly Mark[], start: number, end: number): Path | undefined {
  let at = Math.max(0, firstFrom(marks, start));
  for (; at < marks.length && marks[at]!.start < end; at++) {
    const { path } = marks[at]!;
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The first part that begins at a place or behind it. */
export function firstFrom(marks: readonly Mark[], offset: number): number {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle]!.start < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function indexAt(marks: readonly Mark[], offset: number): number {
  const next = firstFrom(marks, offset + 1);
  const before = marks[next - 1];
  return before !== undefined && offset <= before.end ? next - 1 : -1;
}

function kindOf({ value }: Scalar): MarkKind {
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  return value === null || typeof value === 'boolean' ? 'word' : 'string';
}

function referencesIn(text: string, from: number, to: number): readonly { start: number; end: number }[] {
  return [...text.slice(from, to).matchAll(/\$\{[^}\n]*\}/g)].map(({ 0: whole, index }) => ({
    start: from + index,
    end: from + index + whole.length,
  }));
}

/** What the lexer says between the parts of the text: a document begins, a scalar comes, a bracket is missing. */
const SCALAR = '\u001f';
const REMARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR]);

function commentsIn(text: string): readonly { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let offset = 0;
  let before = '';
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('#') && before !== SCALAR) found.push({ start: offset, end: offset + token.length });
    if (!REMARKS.has(token)) offset += token.length;
    before = token;
  }
  return found;
}
