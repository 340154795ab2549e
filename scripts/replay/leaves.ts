/**
 * Finds what was lost: every scalar of the input must be in the output, as a value or inside a text, or its field must
 * be in the warnings, or a table must explain its other spelling (allowances.ts).
 */
import type { Json } from '../../core/contracts/formats/json.ts';
import { isObject, parsed } from './json.ts';

/** A scalar and its path. */
export interface Leaf {
  /** `messages[2].content[0].text` */
  readonly path: string;
  /** Its members, from the outside: `messages`, `content`, `text`. */
  readonly members: readonly string[];
  /** The types of the objects around it, from the outside. */
  readonly types: readonly string[];
  readonly value: string | number | boolean;
}

/** The member that contains a leaf. */
export function memberOf({ members }: Leaf): string {
  return members.at(-1) ?? '';
}

/** All scalars of a value, except null and empty texts. */
export function leavesOf(value: Json): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (at: Json, path: string, members: readonly string[], types: readonly string[]): void => {
    if (Array.isArray(at)) {
      for (const [i, item] of (at as readonly Json[]).entries()) walk(item, `${path}[${i}]`, members, types);
    } else if (isObject(at)) {
      const within = typeof at.type === 'string' ? [...types, at.type] : types;
      for (const [name, item] of Object.entries(at)) {
        // One vendor's parts have no type; the name of a member identifies it.
        const kinds = members.at(-1) === 'parts' ? [...within, ...Object.keys(at)] : within;
        walk(item, path === '' ? name : `${path}.${name}`, [...members, name], kinds);
      }
    } else if (at !== null && at !== '') {
      leaves.push({ path, members, types, value: at as Leaf['value'] });
    }
  };
  walk(value, '', [], []);
  return leaves;
}

/** The values to search in. */
export interface Found {
  has(leaf: Leaf): boolean;
}

/** The members that contain texts of users, models and tools. */
const SAID: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'system', 'instructions', 'contents', 'systemInstruction'],
  ...['choices', 'output', 'content', 'candidates'],
]);

/** All texts of a value. Texts that are JSON are also parsed. */
export function createFound(value: Json): Found {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const flags = new Set<string>();
  const add = (at: Json): void => {
    for (const leaf of leavesOf(at)) {
      if (typeof leaf.value === 'number') numbers.add(leaf.value);
      else if (typeof leaf.value === 'boolean') flags.add(`${memberOf(leaf)}=${leaf.value}`);
      else {
        texts.add(leaf.value);
        const inner = jsonIn(leaf.value);
        if (inner !== undefined) add(inner);
      }
    }
  };
  add(value);
  const text = [...texts].join('\n');
  const has = (leaf: Leaf): boolean => {
    const { value, members } = leaf;
    const isSaid = SAID.has(members[0] ?? '') || memberOf(leaf) === 'description';
    if (typeof value === 'boolean') return flags.has(`${memberOf(leaf)}=${value}`);
    if (typeof value === 'number') return numbers.has(value) || (isSaid && text.includes(String(value)));
    if (texts.has(value) || texts.has(value.toUpperCase())) return true;
    // Images have a format if not a media type.
    if (/^image\//.test(value) && texts.has(value.slice('image/'.length))) return true;
    // A word like `stop` or `get` occurs in any text: outside of content it has to be a value, or one with its
    // namespace.
    if (!isSaid && value.length < 24) return text.includes(`__${value}`) || text.includes(`${value}__`);
    if (text.includes(value) || text.includes(value.trim())) return true;
    const base64 = base64In(value);
    if (base64 !== undefined && text.includes(base64)) return true;
    // A text file may become text.
    if (
      /^data:text\//.test(value) &&
      text.includes(
        Buffer.from(base64 ?? '', 'base64')
          .toString()
          .trim(),
      )
    )
      return true;
    // Arguments may have lost their spaces, or become an object.
    const inner = jsonIn(value);
    return inner !== undefined && leavesOf(inner).every((each) => has(each));
  };
  return { has };
}

/** The JSON object or list in a text, if there is one. */
function jsonIn(text: string): Json | undefined {
  return /^\s*[[{]/.test(text) ? parsed(text) : undefined;
}

/** The start of the payload of a data URL or of base64, in every alphabet and padding. */
function base64In(text: string): string | undefined {
  const payload = /^data:[^,]*;base64,(.*)$/s.exec(text)?.[1] ?? (/^[\w+/-]{200,}=*$/.test(text) ? text : undefined);
  return payload?.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
}

/** The leaves that are neither found, nor reported, nor excused. */
export function lostLeaves(
  from: Json,
  found: Found,
  warnings: readonly string[],
  excused: (leaf: Leaf) => boolean,
): readonly Leaf[] {
  const names = namesIn(warnings);
  return leavesOf(from).filter((leaf) => !excused(leaf) && !found.has(leaf) && !isNamed(leaf, names));
}

/** A parsed warning: its field, the parent field, and whether it was dropped or changed. */
interface Named {
  readonly field: string;
  readonly root: string | undefined;
  readonly isChange: boolean;
}

/** The fields of the warnings. */
interface Names {
  readonly all: readonly Named[];
  /** The header is truncated. */
  readonly more: boolean;
  readonly warnings: readonly string[];
}

function namesIn(warnings: readonly string[]): Names {
  const all = warnings.map((warning): Named => {
    const colon = warning.lastIndexOf(':');
    const path = warning.slice(0, colon).split('.').map(plain);
    return {
      field: path.at(-1) ?? '',
      root: path.length > 1 ? path[0] : undefined,
      isChange: warning.endsWith(':changed'),
    };
  });
  return { all, warnings, more: warnings.some((warning) => /^and \d+ more$/.test(warning)) };
}

/** Container members, whose names alone do not identify a leaf inside. */
const CONTAINERS: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'system', 'instructions', 'tools', 'contents'],
  ...['choices', 'output', 'content', 'candidates', 'message', 'text', 'parts'],
]);

/** Content members: a warning may name any of them; and a hint next to content covers all of it. */
const TURNS: ReadonlySet<string> = new Set(['messages', 'input', 'system', 'instructions', 'prompt', 'cache_control']);

/** The names of citations. */
const SOURCES: readonly string[] = ['citations', 'annotations', 'groundingmetadata', 'citationmetadata'];

/** The names of one thing in several styles: within content, and among the fields of a request. */
const SYNONYMS: readonly (readonly string[])[] = [
  [
    'reasoning',
    'reasoningcontent',
    'reasoningdetails',
    'thinking',
    'redactedthinking',
    'signature',
    'thoughtsignature',
  ],
  SOURCES,
  ['image', 'audio', 'file', 'inlinedata', 'filedata'],
  ['stopsequence', 'stopreason'],
];
const FIELD_SYNONYMS: readonly (readonly string[])[] = [
  ['reasoningeffort', 'reasoning', 'thinking', 'outputconfig'],
  ['summary', 'generatesummary'],
  ['explanation', 'blockreasonmessage'],
  ['logprobs', 'toplogprobs'],
  ['user', 'safetyidentifier', 'userid'],
];

function isNamed(leaf: Leaf, { all, warnings, more }: Names): boolean {
  if (more) return true;
  const { members, types, value, path } = leaf;
  // All answers but the first.
  const [, list, index] = /^(choices|candidates)\[(\d+)\]/.exec(path) ?? [];
  if (Number(index) > 0 && all.some(({ field }) => field === list)) return true;
  // Included fields are reported by their names.
  if (members.at(-1) === 'include' && warnings.some((warning) => warning.includes(String(value)))) return true;
  const around = [...members, ...types];
  if (members.at(-1) === 'type' && typeof value === 'string') around.push(value);
  // The format of the answer shares its member with the effort, and nothing else.
  const words = (around[0] === 'output_config' && around[1] === 'format' ? around.slice(1) : around).map(plain);
  const synonyms = SAID.has(members[0] ?? '') ? SYNONYMS : FIELD_SYNONYMS;
  return all.some(
    ({ field, root }) =>
      (!CONTAINERS.has(field) || (root === 'citations' && words.some((word) => SOURCES.includes(word)))) &&
      (field === 'cachecontrol' || isWithin(members[0] ?? '', root)) &&
      (words.some((word) => isAlike(field, word)) ||
        synonyms.some((group) => group.includes(field) && words.some((word) => group.includes(word)))),
  );
}

/** A part of content, or of the tools, cannot be lost in another place. */
function isWithin(top: string, root: string | undefined): boolean {
  if (root === undefined) return true;
  if (TURNS.has(root)) return TURNS.has(top);
  return root !== 'tools' || ['tools', 'functions', 'web_search_options', 'input'].includes(top);
}

/** `web_search` stands for `web_search_tool_result` and `web_search_20250305`. */
function isAlike(name: string, word: string): boolean {
  if (name === word) return true;
  const [short, long] = name.length < word.length ? [name, word] : [word, name];
  return short.length >= 5 && !CONTAINERS.has(short) && long.startsWith(short);
}

/** `groundingMetadata` and `grounding_metadata` are the same name. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
