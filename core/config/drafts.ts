/** What a draft of gateway.yaml may say: no more than the file itself does where files, the environment and secrets are meant. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name the spelling
import { isDeepStrictEqual } from 'node:util';
import type { Scalar } from 'yaml';
import { shipsPlugin } from '../loader.ts';
import { isSecretName } from '../log.ts';
import type { ConfigFile, Prepare } from './file.ts';
import { MASK } from './masks.ts';
import { roughly, scalarsOf } from './scalars.ts';
import { type Path, parseYaml } from './yaml.ts';

/** A text of the file, whole and as it is shown. */
export interface Shown {
  readonly text: string;
  readonly masked: string;
}

/** What the file says that a draft may say, too. */
interface Known {
  /** Every `NAME` and `file:PATH`, comments included. */
  readonly names: ReadonlySet<string>;
  /** The same with the place at which they stand. */
  readonly places: ReadonlySet<string>;
  /** What masks stand for, by their place and how the value looks with them. */
  readonly secrets: ReadonlyMap<string, unknown>;
}

/**
 * Puts secrets where their masks stand, before `${…}` is filled in, and reports every reference and every mask at a place at which the
 * `texts` have none of that kind: a reference elsewhere could make a secret speak.
 */
export function draftRules(texts: readonly Shown[]): Prepare {
  const known = knownOf(texts);
  return (doc, problem) => {
    const scalars = scalarsOf(doc);
    if (scalars === undefined) {
      problem([], 'aliases (*name) repeat too much of the file; write the values out');
      blank(doc);
      return;
    }
    const meant = new Map<Scalar, unknown>();
    for (const [path, scalar] of scalars) {
      if (typeof scalar.value !== 'string') continue;
      const value = valueAt(path, scalar.value, known);
      if (value instanceof Refusal) problem(path, value.message);
      // What an alias repeats has to mean the same wherever it stands.
      meant.set(scalar, value instanceof Refusal || meant.get(scalar) === '' ? '' : value);
    }
    for (const [scalar, value] of meant) scalar.value = value;
  };
}

class Refusal extends Error {}

function valueAt(path: Path, written: string, { names, places, secrets }: Known): unknown {
  const field = path.at(-1);
  for (const name of referencesOf(written)) {
    // Where a secret is expected nothing that stands there is ever shown.
    const hidden = typeof field === 'string' && isSecretName(field);
    if (places.has(placed(path, name)) || (hidden && names.has(name))) continue;
    return new Refusal(`\${${name}} is not read for a draft: the file on the disk does not have it here`);
  }
  if (!MASK.test(written)) return written;
  const place = placed(path, written);
  if (secrets.has(place)) return secrets.get(place);
  return new Refusal('this mask stands for no secret that the file on the disk has here; write ${NAME}, or the secret');
}

/** Where it stands, but for positions in lists, and what it says. */
function placed(path: Path, text: string): string {
  return `${roughly(path)} ${text}`;
}

/** What `${…}` names: `NAME`, `file:PATH`; the default is no part of it. */
function referencesOf(text: string): readonly string[] {
  return [...text.matchAll(/\$\$\{|\$\{([^}]*)\}/g)].flatMap(([, inside]) =>
    inside === undefined ? [] : [inside.startsWith('file:') ? inside : inside.replace(/:-.*$/s, '')],
  );
}

function knownOf(texts: readonly Shown[]): Known {
  const names = new Set<string>();
  const places = new Set<string>();
  const secrets = new Map<string, unknown>();
  for (const { text, masked: shown } of texts) {
    for (const name of referencesOf(text)) names.add(name);
    const scalars = scalarsIn(text);
    const masked = scalarsIn(shown);
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

/** Nothing of it is read any further. */
function blank(doc: Parameters<Prepare>[0]): void {
  doc.contents = null;
}

/**
 * Reports what would have the gateway look at other files than those that `files` name: code to load, certificates, folders. True where
 * there was something.
 */
export function refuseForeignFiles(draft: ConfigFile, files: readonly Pick<ConfigFile, 'value'>[]): boolean {
  const before = draft.problems.length;
  const said = ({ value }: Pick<ConfigFile, 'value'>, path: readonly string[]): unknown =>
    path.reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[name], value);
  for (const path of FILES) {
    const meant = said(draft, path);
    if (meant === undefined || files.some((file) => isDeepStrictEqual(said(file, path), meant))) continue;
    draft.problem(path, 'a draft can only name what the file on the disk names here');
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

function entriesOf(pipeline: unknown): readonly unknown[] {
  if (!Array.isArray(pipeline)) return [];
  return pipeline.map((entry: unknown) =>
    typeof entry === 'string' ? entry : (entry as { use?: unknown } | null)?.use,
  );
}
