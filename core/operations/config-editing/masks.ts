/** Shows gateway.yaml without its secrets: each becomes a mask that depends on it, and lines stay the same. */
import { createHmac } from 'node:crypto';
import { isAlias, isMap, isScalar, isSeq, Lexer, type Node, type Pair, type Scalar } from 'yaml';
import { parseYaml, targetOf } from '../../config/yaml.ts';
import { isNameOfTexts, isSecretName, SHORTEST_SECRET, type Span, secretsByForm } from '../../runtime/secrets.ts';

/** Line and column, starting at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A text with masks. */
export interface Masked {
  readonly text: string;
  /** The masked secrets. */
  readonly secrets: readonly string[];
  /** A text with the same masks, each replaced by its secret. */
  unmask(text: string): string;
  /** Maps a position of the full text to one of this text. */
  place<T extends Position>(place: T): T;
}

/** Masks a text: secrets by their place or their form, and every value in `known`, at any place. */
export type Masks = (text: string, known?: readonly string[]) => Masked;

const DOTS = '••••';
/** The form of a mask. */
export const MASK = new RegExp(`${DOTS} [0-9a-f]{6}`);
const MASKS = new RegExp(MASK, 'g');

/** Texts whose secrets are remembered: the current one, a draft, and both as they are shown. */
const MOST_FOUND = 4;

/** Creates the masking function. `key`: of the HMAC; without it, a mask cannot be matched to a guessed secret. */
export function createMasks(key: Buffer): Masks {
  const maskOf = (secret: string): string =>
    `${DOTS} ${createHmac('sha256', key).update(secret).digest('hex').slice(0, 6)}`;

  // A check masks the same few texts several times, and each takes as long as reading it.
  const found = new Map<string, readonly Span[]>();
  const detectedIn = (text: string): readonly Span[] => {
    const before = found.get(text);
    if (before !== undefined) return before;
    const spans = secretsIn(text);
    if (found.size >= MOST_FOUND) found.clear();
    found.set(text, spans);
    return spans;
  };

  return (text, known = []) => {
    const detected = detectedIn(text);
    const secrets = new Set([...known, ...detected.map(({ start, end }) => text.slice(start, end))]);
    const spans = apart([...detected, ...repeatedIn(text, secrets)]);
    const behind = new Map<string, string>();
    const edits: { readonly line: number; readonly column: number; readonly cut: number; readonly put: number }[] = [];
    let masked = '';
    let from = 0;
    let line = 1;
    let lineStart = 0;
    for (const { start, end } of spans) {
      for (let at = text.indexOf('\n', lineStart); at !== -1 && at < start; at = text.indexOf('\n', lineStart)) {
        line++;
        lineStart = at + 1;
      }
      const mask = maskOf(text.slice(start, end));
      edits.push({ line, column: start - lineStart + 1, cut: end - start, put: mask.length });
      behind.set(mask, text.slice(start, end));
      masked += text.slice(from, start) + mask;
      from = end;
    }
    return {
      text: masked + text.slice(from),
      secrets: spans.map(({ start, end }) => text.slice(start, end)),
      unmask: (other) => other.replace(MASKS, (mask) => behind.get(mask) ?? mask),
      place(place) {
        let moved = 0;
        for (const { line, column, cut, put } of edits) {
          if (line !== place.line || column >= place.column) continue;
          // A position inside a secret maps to the start of its mask.
          if (column + cut > place.column) return { ...place, column: column + moved };
          moved += put - cut;
        }
        return { ...place, column: place.column + moved };
      },
    };
  };
}

/**
 * The first mask of `text` that is none in `shown`, the unmasked text masked again: its secret would be shown, because it was moved to a place that
 * is not recognized as secret, such as a comment.
 */
export function lostMask(text: string, shown: string): string | undefined {
  const left = new Map<string, number>();
  for (const [mask] of shown.matchAll(MASKS)) left.set(mask, (left.get(mask) ?? 0) + 1);
  for (const [mask] of text.matchAll(MASKS)) {
    const count = left.get(mask) ?? 0;
    if (count === 0) return mask;
    left.set(mask, count - 1);
  }
  return undefined;
}

/** Finds further occurrences of secrets. Short secrets occur in many places by chance. */
function repeatedIn(text: string, secrets: Iterable<string>): readonly Span[] {
  const all = new Set(secrets);
  /** The lengths of the secrets that start with a text: a text of thousands of secrets is read once. */
  const lengths = new Map<string, Set<number>>();
  for (const secret of all) {
    const start = secret.slice(0, SHORTEST_SECRET);
    if (start.length === SHORTEST_SECRET) lengths.set(start, (lengths.get(start) ?? new Set()).add(secret.length));
  }
  if (lengths.size === 0) return [];
  const spans: Span[] = [];
  for (let at = 0; at <= text.length - SHORTEST_SECRET; at++) {
    for (const length of lengths.get(text.slice(at, at + SHORTEST_SECRET)) ?? [])
      if (all.has(text.slice(at, at + length))) spans.push({ start: at, end: at + length });
  }
  return spans;
}

/** In order, not overlapping, each within one line. */
function apart(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && span.start <= last.end)
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    else merged.push(span);
  }
  return merged;
}

// ---- what is secret

function secretsIn(text: string): readonly Span[] {
  const { doc, problems } = parseYaml(text);
  const spans: Span[] = [];
  const known = referencesIn(text);
  const add = (span: Span): void => void spans.push(...literalsOf(text, span, known));

  for (const { scalar, hides } of scalarsAndKeys(doc.contents, (alias) => targetOf(alias, doc) ?? null)) {
    const span = insideOf(scalar, text);
    if (hides) add(span);
    else for (const each of lookingSecret(text, span)) add(each);
  }
  // Text that cannot be parsed may contain a secret anywhere.
  if (problems.length > 0) for (const span of secretsOfLines(text)) add(span);
  else for (const span of secretsOfComments(text)) add(span);
  return spans;
}

/** The path of a file that contains a secret is not secret. */
const FILE = /^[\w./~ -]+\.(?:pem|key|crt|cer|txt)$/;

/** Every scalar, keys included, and whether all of it is hidden: by its own place, or by an alias that repeats it. */
function scalarsAndKeys(
  contents: Node | null,
  resolve: (alias: Extract<Node, { source: string }>) => Node | null,
): readonly { readonly scalar: Scalar; readonly hides: boolean }[] {
  const scalars: { scalar: Scalar; hides: boolean }[] = [];
  const repeated = new Set<Node>();

  /** `name`: of the member. */
  const walk = (node: Node | null, name: string, hidden: boolean): void => {
    if (node === null) return;
    if (isAlias(node)) {
      const target = hidden ? resolve(node) : null;
      if (target === null || repeated.has(target)) return;
      repeated.add(target);
      walk(target, name, true);
    } else if (isMap(node)) {
      const named = node.items.some(isNamingSecret);
      for (const { key, value } of node.items) {
        if (isScalar(key)) scalars.push({ scalar: key, hides: false });
        const member = isScalar(key) ? String(key.value) : '';
        walk(value as Node | null, member, hidden || isNameOfTexts(member) || (named && VALUE.test(member)));
      }
    } else if (isSeq(node)) {
      for (const item of node.items) walk(item as Node | null, name, hidden);
    } else if (isScalar(node)) {
      const { value } = node;
      const isText = typeof value === 'string' && !FILE.test(value);
      scalars.push({ scalar: node, hides: hidden && (isText || (typeof value === 'number' && isSecretName(name))) });
    }
  };
  walk(contents, '', false);
  return scalars;
}

/** The name of a member that is written as two, `{ name: x-api-key, value: … }`. */
function isNamingSecret({ key, value }: Pair): boolean {
  if (!isScalar(key) || !isScalar(value) || typeof value.value !== 'string') return false;
  return /^(?:name|header|key)$/i.test(String(key.value)) && isNameOfTexts(value.value);
}
const VALUE = /^values?$/i;

/** A scalar without its quotes or block header. */
function insideOf({ range, type }: Scalar, text: string): Span {
  const [start = 0, end = 0] = range ?? [];
  if (type?.startsWith('QUOTE')) return { start: start + 1, end: Math.max(start + 1, end - 1) };
  if (!type?.startsWith('BLOCK')) return { start, end };
  const head = text.indexOf('\n', start);
  return { start: head === -1 || head > end ? end : head, end };
}

/** `${NAME}`, `${file:PATH}`, `${secret:NAME}`, and `${NAME:-default}` without the default. Other text of this form is literal. */
function referencesIn(text: string): readonly Span[] {
  return [
    ...text.matchAll(
      /(?<!\$)\$\{(?:file:(?:(?!\$\{)[^}\n])*|secret:[\w-]+|([A-Za-z_]\w*:-)((?:(?!\$\{)[^}\n])*)|[A-Za-z_]\w*)\}/g,
    ),
  ].flatMap((match) => {
    const [whole, name, fallback = ''] = match;
    const { index } = match;
    const end = index + whole.length;
    if (name === undefined || fallback === '') return [{ start: index, end }];
    return [
      { start: index, end: index + 2 + name.length },
      { start: end - 1, end },
    ];
  });
}

/** The literal parts of a span, line by line, without surrounding space and `${…}`. */
function literalsOf(text: string, { start, end }: Span, references: readonly Span[]): readonly Span[] {
  const spans: Span[] = [];
  let from = start;
  const add = (to: number, alone: boolean): void => {
    const piece = text.slice(from, to);
    const begin = from + piece.length - piece.trimStart().length;
    const finish = begin + piece.trim().length;
    // Text between or around references is not secret.
    if (finish > begin && (alone || /[\p{L}\p{N}]/u.test(piece))) spans.push({ start: begin, end: finish });
  };
  for (let line = start; line < end; ) {
    const next = text.indexOf('\n', line);
    const stop = next === -1 || next >= end ? end : next;
    const inside = references.filter((span) => span.end > line && span.start < stop);
    from = line;
    for (const span of inside) {
      add(Math.max(from, span.start), false);
      from = Math.max(from, span.end);
    }
    add(Math.max(from, stop), inside.length === 0);
    line = stop + 1;
  }
  return spans;
}

function lookingSecret(text: string, { start, end }: Span): readonly Span[] {
  return secretsByForm(text.slice(start, end)).map((span) => ({ start: start + span.start, end: start + span.end }));
}

/** A comment may contain a member that was commented out. */
function secretsOfComments(text: string): readonly Span[] {
  const spans: Span[] = [];
  /** Inside a PEM block that is commented out. */
  let armored = false;
  /** Indentation of the name whose following lines are hidden. */
  let above: number | undefined;
  let last = 0;
  for (const span of commentsOf(text)) {
    const comment = text.slice(span.start, span.end);
    const inside = { start: span.start + 1, end: span.end };
    if (!/^\r?\n[ \t]*$/.test(text.slice(last, span.start))) above = undefined;
    last = span.end;
    if (armored || /-----BEGIN /.test(comment)) {
      spans.push(inside);
      armored = !/-----END /.test(comment);
      continue;
    }
    const line = comment.slice(1);
    const indent = line.length - line.trimStart().length;
    if (above !== undefined && line.trim() !== '' && indent <= above && !(indent === above && /^\s*-\s/.test(line)))
      above = undefined;
    if (above !== undefined) {
      const item = /^\s*-\s+/.exec(line)?.[0].length ?? 0;
      spans.push({ start: inside.start + item, end: span.end });
      continue;
    }
    const opener = OPENER.exec(line);
    if (opener !== null && isNameOfTexts(opener[1] ?? '')) above = indent;
    spans.push(...membersOfComment(text, span), ...lookingSecret(text, span));
  }
  return spans;
}

/** A name whose value follows on the next lines. */
const OPENER = /^\s*(?:-\s+)?["']?([\w.-]+)["']?\s*:\s*(?:[|>][-+\d]*\s*)?$/;

/** Lexer tokens that carry no text: start of document, scalar follows, missing bracket. */
const SCALAR = '\u001f';
const REMARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR]);

function commentsOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  let offset = 0;
  let before = '';
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('#') && before !== SCALAR) spans.push({ start: offset, end: offset + token.length });
    if (!REMARKS.has(token)) offset += token.length;
    before = token;
  }
  return spans;
}

/** `name: value` anywhere in a line; the space may be missing after a quoted name. */
const MEMBERS = /["']([\w .-]+)["']\s*:\s*|(?<![\w.-])([\w.-]+)\s*:(?:\s+|$)/g;

/** The values of members that are commented out. Words too short for a secret stay: `key: none`. */
function membersOfComment(text: string, { start, end }: Span): readonly Span[] {
  const line = text.slice(start, end);
  /** Where the last hidden value ends: names inside it are part of it. */
  let hidden = 0;
  return [...line.matchAll(MEMBERS)].flatMap(({ 0: whole, 1: inQuotes, 2: plain, index }) => {
    const name = inQuotes ?? plain ?? '';
    if (index < hidden || !isNameOfTexts(name)) return [];
    const rest = line.slice(index + whole.length);
    const [, doubled, single = doubled] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')/.exec(rest) ?? [];
    const value = single ?? rest.slice(0, endOfValue(rest, /[[{]/.test(line.slice(0, index).replaceAll('${', ''))));
    if ((/^\d+$/.test(value) && !isSecretName(name)) || value.length < SHORTEST_WORD || FILE.test(value)) return [];
    const from = index + whole.length + (single === undefined ? 0 : 1);
    hidden = from + value.length;
    return [{ start: start + from, end: start + hidden }];
  });
}

/** The end of the value that a text starts with. */
function endOfValue(text: string, inFlow: boolean): number {
  const list = /^\[[^\]]*\]/.exec(text);
  if (list !== null) return list[0].length;
  const [value] = (inFlow ? /^(?:\$\{[^}]*\}?|(?!\s#)[^,}\]])*/ : /^(?:(?!\s#)[\s\S])*/).exec(text)!;
  return value.trimEnd().length;
}
const SHORTEST_WORD = 5;

/** In text that is not YAML: hides the rest of the line after every name of a secret, and the lines indented below. */
function secretsOfLines(text: string): readonly Span[] {
  const spans: Span[] = [...lookingSecret(text, { start: 0, end: text.length })];
  /** Indentation of the name whose following lines are hidden. */
  let above: number | undefined;
  let start = 0;
  for (const line of text.split('\n')) {
    const span = { start, end: start + line.length };
    const indent = line.length - line.trimStart().length;
    const isItem = indent === above && /^\s*-\s/.test(line);
    if (line.trim() !== '' && above !== undefined && indent <= above && !isItem) above = undefined;
    if (above !== undefined) spans.push(span);
    const member = [...line.matchAll(MEMBERS)].find(([, inQuotes, plain]) => isNameOfTexts(inQuotes ?? plain ?? ''));
    if (member !== undefined) {
      above ??= indent;
      spans.push({ start: start + member.index + member[0].length, end: span.end });
    }
    start += line.length + 1;
  }
  return spans;
}
