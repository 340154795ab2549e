/** Checks a draft of gateway.yaml: it may only name files, variables and secrets that the file on disk names. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name the spelling
import { isAbsolute, normalize } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { shipsPlugin } from '../../assembly/plugin-loader.ts';
import type { ConfigFile, Prepare } from '../../config/file.ts';
import { type Path, parseYaml, targetOf } from '../../config/yaml.ts';
import { isSecretName, SHORTEST_SECRET } from '../../runtime/secrets.ts';
import { MASK } from './masks.ts';

/** A document with more scalars is not a configuration: it has aliases that repeat aliases. */
const MOST = 20_000;

/** Every scalar value at each of its paths, in text order; undefined if aliases repeat too much, or themselves. */
function scalarsOf(doc: Document): readonly (readonly [path: Path, scalar: Scalar])[] | undefined {
  const scalars: (readonly [Path, Scalar])[] = [];
  let budget = MOST;

  const walk = (node: Node | null, path: Path, above: readonly Node[]): boolean => {
    if (node === null) return true;
    if (budget-- <= 0 || above.includes(node)) return false;
    if (isAlias(node)) return walk(targetOf(node, doc) ?? null, path, [...above, node]);
    const below = [...above, node];
    if (isMap(node)) {
      return node.items.every(({ key, value }) =>
        walk(value as Node | null, [...path, isScalar(key) ? String(key.value) : ''], below),
      );
    }
    if (isSeq(node)) return node.items.every((item, i) => walk(item as Node | null, [...path, i], below));
    if (isScalar(node)) scalars.push([path, node]);
    return true;
  };
  return walk(doc.contents, [], []) ? scalars : undefined;
}

/** The full text of the file, and the masked text. */
export interface Shown {
  readonly text: string;
  readonly masked: string;
}

/** References in the file on disk, which a draft may use, too. */
interface Known {
  /** Every `NAME` and `file:PATH`, comments included. */
  readonly names: ReadonlySet<string>;
  /** The same with their paths. */
  readonly places: ReadonlySet<string>;
  /** The secrets behind masks, by path and masked form. */
  readonly secrets: ReadonlyMap<string, unknown>;
}

/**
 * Replaces masks by secrets before `${…}` is filled in. Reports every reference and mask at a path that has none in the
 * file on disk, because a secret that was moved to another field could be disclosed. `stored`: the secrets of the database, which may be used
 * everywhere; those too short to be masked in messages only in fields for secrets.
 */
export function draftRules(texts: readonly Shown[], stored: ReadonlyMap<string, string>): Prepare {
  const isFree = (name: string): boolean => {
    const secret = name.startsWith('secret:') ? (stored.get(name.slice('secret:'.length)) ?? '') : undefined;
    return secret === '' || (secret?.length ?? 0) >= SHORTEST_SECRET;
  };
  const known = { ...knownOf(texts), isFree };
  return (doc, problem) => {
    const scalars = scalarsOf(doc);
    if (scalars === undefined) {
      problem([], 'aliases (*name) repeat too much of the file; write the values out');
      doc.contents = null;
      return;
    }
    const values = new Map<Scalar, unknown>();
    for (const [path, scalar] of scalars) {
      if (typeof scalar.value !== 'string') continue;
      const value = valueAt(path, scalar.value, known);
      if (value instanceof Refusal) problem(path, value.message);
      // An alias must mean the same at every path that repeats it.
      values.set(scalar, value instanceof Refusal || values.get(scalar) === '' ? '' : value);
    }
    for (const [scalar, value] of values) scalar.value = value;
  };
}

class Refusal extends Error {}

function valueAt(
  at: Path,
  written: string,
  { names, places, secrets, isFree }: Known & { readonly isFree: (name: string) => boolean },
): unknown {
  const path = ruledBy(at);
  const field = path.at(-1);
  for (const name of referencesOf(written)) {
    // Fields for secrets are never shown.
    const hidden = typeof field === 'string' && isSecretName(field);
    const isUsable = names.has(name) || name.startsWith('secret:');
    if (isFree(name) || places.has(placed(path, name)) || (hidden && isUsable)) continue;
    return new Refusal(`\${${name}} is not resolved for a draft: the file on disk does not have it here`);
  }
  if (!MASK.test(written)) return written;
  const place = placed(path, written);
  if (secrets.has(place)) return secrets.get(place);
  return new Refusal('this mask matches no secret in the file on disk at this place; write ${NAME}, or the secret');
}

/** The path whose rules apply: a channel's list of keys is as secret as its key, and a secret may move from one to the other. */
function ruledBy(path: Path): Path {
  const [section, channel, member, ...rest] = path;
  return section === 'channels' && member === 'keys' && rest.length === 1 ? [section, channel!, 'key'] : path;
}

/** A path without list positions, because channels may be reordered, and the value there. */
function placed(path: Path, text: string): string {
  return `${JSON.stringify(ruledBy(path).map((step) => (typeof step === 'number' ? 0 : step)))} ${text}`;
}

/** The names in `${…}`: `NAME`, `file:PATH`, `secret:NAME`, without the default. */
function referencesOf(text: string): readonly string[] {
  return [...text.matchAll(/\$\$\{|\$\{([^}]*)\}/g)].flatMap(([, inside]) =>
    inside === undefined ? [] : [/^(?:file|secret):/.test(inside) ? inside : inside.replace(/:-.*$/s, '')],
  );
}

function knownOf(texts: readonly Shown[]): Known {
  const names = new Set<string>();
  const places = new Set<string>();
  const secrets = new Map<string, unknown>();
  for (const { text, masked: maskedText } of texts) {
    for (const name of referencesOf(text)) names.add(name);
    const scalars = scalarsIn(text);
    const masked = scalarsIn(maskedText);
    for (const [i, [path, { value }]] of scalars.entries()) {
      if (typeof value === 'string') for (const name of referencesOf(value)) places.add(placed(path, name));
      const seen = masked.length === scalars.length ? masked[i]![1].value : undefined;
      if (typeof seen === 'string' && seen !== value) secrets.set(placed(path, seen), value);
    }
  }
  return { names, places, secrets };
}

function scalarsIn(text: string): NonNullable<ReturnType<typeof scalarsOf>> {
  const { doc, sound } = parseYaml(text);
  return (sound && scalarsOf(doc)) || [];
}

/** Reports plugins, certificates and folders that none of `files` names. True if there was one. */
export function refuseForeignFiles(draft: ConfigFile, files: readonly Pick<ConfigFile, 'value'>[]): boolean {
  const before = draft.problems.length;
  const valueIn = ({ value }: Pick<ConfigFile, 'value'>, path: readonly string[]): unknown =>
    path.reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[name], value);
  for (const path of FILES) {
    const value = valueIn(draft, path);
    if (value === undefined || files.some((file) => isDeepStrictEqual(valueIn(file, path), value))) continue;
    draft.problem(path, 'a draft can only use references that the file on disk has here');
  }
  for (const path of FOLDERS) {
    const value = valueIn(draft, path);
    const isNew = typeof value === 'string' && !files.some((file) => valueIn(file, path) === value);
    // The data of the gateway are written there.
    if (isNew && (isAbsolute(value) || normalize(value).startsWith('..')))
      draft.problem(path, 'a draft can only use a folder below this one, or the one that the file on disk has here');
  }
  const used = new Set(files.flatMap(({ value }) => entriesOf(value.pipeline)));
  for (const [i, use] of entriesOf(draft.value.pipeline).entries()) {
    if (typeof use !== 'string' || used.has(use) || shipsPlugin(use)) continue;
    draft.problem(
      ['pipeline', i],
      `${use} is not loaded for a draft: it does not ship with the gateway, and the file on the disk does not name it`,
    );
  }
  return draft.problems.length > before;
}

/** Members that name files. */
const FILES: readonly (readonly string[])[] = [
  ['listen', 'tls'],
  ['listen', 'body', 'spool'],
];

/** Members that name folders to which files are written. */
const FOLDERS: readonly (readonly string[])[] = [
  ['backup', 'to'],
  ['events', 'file', 'folder'],
];

function entriesOf(pipeline: unknown): readonly unknown[] {
  if (!Array.isArray(pipeline)) return [];
  return pipeline.map((entry: unknown) =>
    typeof entry === 'string' ? entry : (entry as { use?: unknown } | null)?.use,
  );
}
