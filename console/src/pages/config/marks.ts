/** Tokens of a YAML text (keys, values, comments, references), and the path of the key that each belongs to. */
import { isAlias, isMap, isScalar, isSeq, Lexer, type Node, parseDocument, type Scalar } from 'yaml';

/** A path from the root: member names and list indexes. */
export type Path = readonly (string | number)[];

/** The kinds of tokens. */
export type MarkKind = 'key' | 'string' | 'number' | 'word' | 'reference' | 'alias' | 'comment';

/** A token. Tokens are in order and do not overlap. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly kind: MarkKind;
  /** The path of the key that the token is, or is a value of; comments have none. */
  readonly path: Path | undefined;
}

/** The last sections, so that an edit reparses only the section that changed. */
let cache: ReadonlyMap<string, readonly Mark[]> = new Map();

/** All tokens of a text; for an invalid text, as many as can be recognized. */
export function marksOf(text: string): readonly Mark[] {
  const seen = new Map<string, readonly Mark[]>();
  const marks: Mark[] = [];
  let offset = 0;
  // A line that begins in the first column and is not a comment begins a section.
  for (const section of text.split(/^(?=[^\s#])/m)) {
    const inside = cache.get(section) ?? seen.get(section) ?? marksOfSection(section);
    seen.set(section, inside);
    for (const mark of inside) marks.push({ ...mark, start: mark.start + offset, end: mark.end + offset });
    offset += section.length;
  }
  cache = seen;
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
    // Too deeply nested for the parser: shown without highlighting.
    marks.length = 0;
  }
  for (const { start, end } of commentsIn(text)) add(start, end, 'comment', undefined);
  return marks.sort((a, b) => a.start - b.start).filter((mark, at, all) => mark.start >= (all[at - 1]?.end ?? 0));
}

/** The token at an offset or ending there. */
export function markAt(marks: readonly Mark[], offset: number): Mark | undefined {
  return marks[indexAt(marks, offset)];
}

/** The key of a line: that of its first token that has one. */
export function pathOfLine(marks: readonly Mark[], start: number, end: number): Path | undefined {
  let at = Math.max(0, firstFrom(marks, start));
  for (; at < marks.length && marks[at]!.start < end; at++) {
    const { path } = marks[at]!;
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The first token at or after an offset. */
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
  return [...text.slice(from, to).matchAll(/\$\{[^}\n]*\}/g)].map(({ 0: reference, index }) => ({
    start: from + index,
    end: from + index + reference.length,
  }));
}

/** Control tokens of the lexer, which are not part of the text: document start, scalar, flow error. */
const SCALAR = '\u001f';
const REMARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR]);

function commentsIn(text: string): readonly { start: number; end: number }[] {
  const comments: { start: number; end: number }[] = [];
  let offset = 0;
  let before = '';
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('#') && before !== SCALAR) comments.push({ start: offset, end: offset + token.length });
    if (!REMARKS.has(token)) offset += token.length;
    before = token;
  }
  return comments;
}
