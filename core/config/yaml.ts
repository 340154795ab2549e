/** The unambiguous subset of YAML that gateway.yaml uses; what other programs read differently is refused. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name the spelling
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type Scalar,
  visit,
} from 'yaml';
import { isSecretName, looksLikeSecret } from '../runtime/secrets.ts';
import { type Filled, fill, type Sources } from './interpolation.ts';

/** A path from the root of the file to a value: names of members, positions in lists. */
export type Path = readonly (string | number)[];

/** A parsed document, valid or not. */
export interface Yaml {
  readonly doc: Document;
  readonly problems: readonly { readonly offset: number; readonly message: string }[];
  /** Whether the document is complete in spite of its problems. */
  readonly sound: boolean;
  /** Line and column of an offset, starting at 1. */
  position(offset: number): { readonly line: number; readonly column: number };
}

/** The result of `fillIn`. */
export interface Findings {
  problem(path: Path, message: string): void;
  warn(path: Path, message: string): void;
  secret(value: string): void;
  /** A `${…}` and its place. */
  refers(reference: Pick<Filled['pieces'][number], 'kind' | 'name'>, path: Path): void;
  /** A file that was read, and its content; undefined: unreadable. */
  source(path: string, content: string | undefined): void;
}

/** Parses one document. Throws nothing. */
export function parseYaml(text: string): Yaml {
  let starts: readonly number[] | undefined;
  const position = (offset: number) => {
    starts ??= [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
    let line = 1;
    for (let below = starts.length; line < below; ) {
      const middle = (line + below + 1) >> 1;
      if (starts[middle - 1]! <= offset) line = middle;
      else below = middle - 1;
    }
    return { line, column: offset - starts[line - 1]! + 1 };
  };
  const tooDeep = nested.exec(text);
  const doc = parseDocument(tooDeep ? '' : text, {
    // The parser's messages quote the source, which may contain a secret.
    prettyErrors: false,
    stringKeys: true,
    // Reported with their paths by `fillIn`.
    uniqueKeys: false,
    resolveKnownTags: false,
    schema: 'core',
  });
  const problems: { offset: number; message: string }[] = [];
  const lines = new Set<number>();
  for (const { code, pos } of doc.errors.slice(0, mostErrors)) {
    const offset = code === 'MISSING_CHAR' ? startOfQuote(doc, pos[0]) : pos[0];
    const { line } = position(offset);
    // The first mistake of a line causes the others.
    if (!lines.has(line)) problems.push({ offset, message: sentences[code] ?? sentences['']! });
    lines.add(line);
  }
  if (tooDeep) problems.push({ offset: tooDeep.index, message: 'this is nested deeper than 64 levels' });
  const { directives } = doc;
  if (directives?.yaml.explicit || Object.keys(directives?.tags ?? {}).length > 1) {
    problems.push({ offset: 0, message: 'lines that begin with % are not supported; remove them' });
  }
  return { doc, problems, sound: !tooDeep && doc.errors.every(({ code }) => code === 'MULTIPLE_DOCS'), position };
}

/** Maximum number of parser errors to report: with more, the text is not YAML at all. */
const mostErrors = 50;

/** An unclosed quote is noticed at the end of the file; report where it opens. */
function startOfQuote(doc: Document, noticed: number): number {
  let offset = noticed;
  visit(doc, {
    Scalar(_, { type, range }) {
      if (type?.startsWith('QUOTE') && range && range[0] < noticed && noticed <= range[1]) offset = range[0];
    },
  });
  return offset;
}

/** Maximum openings without an end between them. The parser recurses; a stack overflow can end the process. */
const nested = /(?:[[{][^[\]{}]*){64}|(?:[-?][ \t]+){64}/;

/** The message for a parser error code. */
const sentences: Readonly<Record<string, string>> = {
  BAD_DQ_ESCAPE: 'this is not an escape sequence in double quotes; use single quotes, or write \\\\ for a backslash',
  BAD_INDENT: 'this does not line up with what is above, or a bracket above is not closed',
  BAD_SCALAR_START: 'text cannot begin with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second "name: value" in one line; put text that contains ": " in quotes',
  BLOCK_IN_FLOW: 'an indented block is not allowed inside [ ] or { }',
  MISSING_CHAR: 'something is not finished: a closing quote or bracket, or the ":" behind a name',
  MULTILINE_IMPLICIT_KEY: 'a name and its ":" must be in one line; is a ":" missing here, or the indentation wrong?',
  MULTIPLE_DOCS: 'a second document begins here; the file is one document, remove the ---',
  NON_STRING_KEY: 'a name must be plain text, not a list or a map',
  RESOURCE_EXHAUSTION: 'this is nested too deeply',
  TAB_AS_INDENT: 'a tab cannot indent; use spaces',
  UNEXPECTED_TOKEN:
    'this does not belong here; check quotes, brackets and colons (inside { } or [ ] a ${NAME} needs quotes)',
  '': 'this is not YAML; check quotes, brackets, colons and indentation',
};

/** The offset of the deepest existing part of a path; for a member of a map, of its key. */
export function offsetOf(doc: Document, path: Path): number {
  let node = doc.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const step of path) {
    if (isAlias(node)) node = targetOf(node, doc) ?? null;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === String(step));
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value as Node | null;
    } else if (isSeq(node)) {
      const item = node.items[Number(step)] as Node | undefined;
      if (item === undefined) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else {
      break;
    }
  }
  return offset;
}

/** The document as plain values with `${…}` filled in; undefined if it is not a map of sections. */
export function fillIn(
  doc: Document,
  dir: string,
  sources: Sources,
  findings: Findings,
): Record<string, unknown> | undefined {
  if (doc.contents === null || (isScalar(doc.contents) && doc.contents.value === null)) return {};
  if (!isMap(doc.contents)) {
    findings.problem([], 'the file must be a map of sections (listen: …, store: …, pipeline: …)');
    return undefined;
  }
  let whole = true;
  let aliased: Path = [];

  const walk = (node: Node | null, path: Path, above: readonly Node[]): void => {
    if (node === null) return;
    if (isAlias(node)) {
      aliased = path;
      const target = targetOf(node, doc);
      if (target !== undefined && !above.includes(target)) return;
      whole = false;
      findings.problem(path, target ? 'refers to itself' : 'no anchor of this name (&name) precedes it');
      return;
    }
    if (node.tag !== undefined)
      findings.problem(path, 'tags (!name) are not used here; remove it, and put text in quotes');
    if (isMap(node)) {
      const names = new Set<string>();
      for (const { key, value } of node.items) {
        const name = String((key as Scalar).value);
        const wrong = names.has(name) ? 'appears twice; keep one' : nameProblem(name);
        if (wrong !== undefined) findings.problem([...path, name], wrong);
        names.add(name);
        walk(value as Node | null, [...path, name], [...above, node]);
      }
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item as Node, [...path, index], [...above, node]);
    } else if (isScalar(node)) {
      const ambiguous = ambiguity(node);
      if (ambiguous !== undefined) findings.problem(path, ambiguous);
      else if (typeof node.value === 'string') node.value = fillScalar(node.value, path, dir, sources, findings);
    }
  };
  walk(doc.contents, [], []);
  if (!whole) return undefined;

  const value = plainOf(doc);
  if (value === undefined)
    findings.problem(aliased, 'aliases (*name) repeat too much of the file; write the values out');
  return value as Record<string, unknown> | undefined;
}

/** A document with more nodes, aliases expanded, is not a configuration. */
const MOST_REPEATED = 5_000;

/** The plain value of a document without circles, with aliases expanded; undefined if that is too much. */
function plainOf(doc: Document): unknown {
  let repeated = 0;
  const plain = (node: Node | null, again: boolean): unknown => {
    if (repeated > MOST_REPEATED || node === null) return null;
    if (again) repeated++;
    if (isAlias(node)) return plain(targetOf(node, doc) ?? null, true);
    if (isMap(node)) {
      return Object.fromEntries(
        node.items.map(({ key, value }) => [String((key as Scalar).value), plain(value as Node | null, again)]),
      );
    }
    if (isSeq(node)) return node.items.map((item) => plain(item as Node | null, again));
    return isScalar(node) ? node.value : null;
  };
  const value = plain(doc.contents, false);
  return repeated > MOST_REPEATED ? undefined : value;
}

/** The targets of aliases per document: the parser would search the whole document for each alias. */
const targets = new WeakMap<Document, ReadonlyMap<Alias, Node | undefined>>();

/** The target of an alias: the last node before it with this anchor. */
export function targetOf(alias: Alias, doc: Document): Node | undefined {
  let known = targets.get(doc);
  if (known === undefined) {
    known = targetsIn(doc);
    targets.set(doc, known);
  }
  return known.get(alias);
}

function targetsIn(doc: Document): ReadonlyMap<Alias, Node | undefined> {
  const anchors = new Map<string, Node>();
  const targetByAlias = new Map<Alias, Node | undefined>();
  visit(doc, {
    Node(_, node) {
      if (isAlias(node)) targetByAlias.set(node, anchors.get(node.source));
      else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targetByAlias;
}

/** Names that would mean something else in YAML or JavaScript. */
function nameProblem(name: string): string | undefined {
  if (name === '<<') return 'maps are not merged; write the members out';
  if (name === '__proto__' || name === 'constructor' || name === 'prototype') return 'cannot be used as a name';
  if (name.includes('${')) return '${…} is filled in in values, not in names';
  return undefined;
}

/** Scalars that YAML 1.1 and 1.2 read differently, and numbers that JavaScript cannot represent. */
function ambiguity(node: Scalar): string | undefined {
  if (node.type !== 'PLAIN' || node.source === undefined) return undefined;
  if (typeof node.value === 'string') {
    if (!/^(?:yes|no|on|off)$/i.test(node.source)) return undefined;
    return `some programs read this as ${/^(?:yes|on)$/i.test(node.source) ? 'true' : 'false'}, others as text; put text in quotes, or write true or false`;
  }
  if (typeof node.value !== 'number') return undefined;
  if (/^[-+]?0\d/.test(node.source))
    return 'some programs read a number with a leading 0 as octal; leave the 0 out, or put text in quotes';
  if (!Number.isFinite(node.value)) return 'must be a finite number; put text in quotes';
  const digits = node.source.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '').length;
  if (Number.isInteger(node.value) ? Number.isSafeInteger(node.value) : digits <= 15) return undefined;
  return 'has more digits than a number can hold exactly; put text in quotes';
}

/** Sections that are read before the database is open. */
const EARLY: ReadonlySet<string | number | undefined> = new Set(['listen', 'store', 'upstream', 'pipeline', 'config']);

/** Fills in one string and records its secrets. */
function fillScalar(literal: string, path: Path, dir: string, sources: Sources, findings: Findings): string {
  const field = path.at(-1);
  const secretField = typeof field === 'string' && isSecretName(field);
  // Headers and query parameters of requests: values that are not written out are treated as credentials, whatever
  // their name is.
  const sent = path.at(-2) === 'headers' || path.at(-2) === 'query';
  const { text, pieces, problems, warnings, files } = fill(literal, dir, sources);
  for (const [file, content] of files) findings.source(file, content);
  for (const message of problems) findings.problem(path, message);
  for (const message of warnings) findings.warn(path, message);
  for (const { kind, name, text: value } of pieces) {
    findings.refers({ kind, name }, path);
    if (kind === 'secret' || secretField || sent || (kind === 'variable' && isSecretName(name))) findings.secret(value);
    if (kind === 'secret' && EARLY.has(path[0]))
      findings.problem(path, 'this is read before the database is open; use ${NAME} or ${file:PATH} instead');
  }
  if (secretField && (sent || pieces.length > 0)) findings.secret(text);
  const shell = /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(literal)?.[1];
  if (shell !== undefined) findings.warn(path, `$${shell} is taken literally; a variable is written \${${shell}}`);
  // Literal text in the file: a default is, a variable's name is not.
  const literally = literal
    .replace(/\$\{(?:(?:file|secret):[^}]*|\w+(?::-([^}]*))?)\}/g, (_, fallback: string = '') => fallback)
    // The name in a URL whose password comes from another place.
    .replace(/\/\/[^\s/@:]*:@/g, '//');
  if (looksLikeSecret(literally, secretField)) {
    findings.secret(text);
    findings.warn(
      path,
      'looks like a credential; take it from the environment (${NAME}) or from a file (${file:PATH})',
    );
  }
  return text;
}
