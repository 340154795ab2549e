/**
 * Finds what vanished: every scalar that went in has to come out somewhere, as a value or inside a text, or its field has to be
 * named as lost, or a table has to say why it is spelled differently (allowances.ts).
 */
import type { Json } from '../../core/contracts/json.ts';
import { isObject, parsed } from './json.ts';

/** A scalar, and where it stands. */
export interface Leaf {
  /** `messages[2].content[0].text` */
  readonly path: string;
  /** Its members, from the outside: `messages`, `content`, `text`. */
  readonly members: readonly string[];
  /** The types of the objects around it, from the outside. */
  readonly types: readonly string[];
  readonly value: string | number | boolean;
}

/** The member in which a leaf stands. */
export function memberOf({ members }: Leaf): string {
  return members.at(-1) ?? '';
}

/** All scalars of a value; null and empty texts say nothing. */
export function leavesOf(value: Json): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (at: Json, path: string, members: readonly string[], types: readonly string[]): void => {
    if (Array.isArray(at)) {
      for (const [i, item] of (at as readonly Json[]).entries()) walk(item, `${path}[${i}]`, members, types);
    } else if (isObject(at)) {
      const within = typeof at.type === 'string' ? [...types, at.type] : types;
      for (const [name, item] of Object.entries(at)) {
        // One vendor's parts have no type; what they are is the name of a member.
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

/** Where leaves are looked for. */
export interface Found {
  has(leaf: Leaf): boolean;
}

/** The members under which people, models and tools speak. */
const SAID: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'system', 'instructions', 'contents', 'systemInstruction'],
  ...['choices', 'output', 'content', 'candidates'],
]);

/** Everything that is said in a value. Texts that are JSON themselves are read as such, too. */
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
    const { value: wanted, members } = leaf;
    const isSaid = SAID.has(members[0] ?? '') || memberOf(leaf) === 'description';
    if (typeof wanted === 'boolean') return flags.has(`${memberOf(leaf)}=${wanted}`);
    if (typeof wanted === 'number') return numbers.has(wanted) || (isSaid && text.includes(String(wanted)));
    if (texts.has(wanted) || texts.has(wanted.toUpperCase())) return true;
    // Pictures have a format where others have a media type.
    if (/^image\//.test(wanted) && texts.has(wanted.slice('image/'.length))) return true;
    // A word like `stop` or `get` stands in any text: outside of what was said it has to be a value, or one with its group.
    if (!isSaid && wanted.length < 24) return text.includes(`__${wanted}`) || text.includes(`${wanted}__`);
    if (text.includes(wanted) || text.includes(wanted.trim())) return true;
    const base64 = base64In(wanted);
    if (base64 !== undefined && text.includes(base64)) return true;
    // A file of text may be told as text.
    if (
      /^data:text\//.test(wanted) &&
      text.includes(
        Buffer.from(base64 ?? '', 'base64')
          .toString()
          .trim(),
      )
    )
      return true;
    // Arguments may have lost their spaces, or become an object.
    const inner = jsonIn(wanted);
    return inner !== undefined && leavesOf(inner).every((each) => has(each));
  };
  return { has };
}

/** What a text says, where it is a JSON object or list. */
function jsonIn(text: string): Json | undefined {
  return /^\s*[[{]/.test(text) ? parsed(text) : undefined;
}

/** The payload of a data URL or of base64, as every alphabet and padding has it: its beginning. */
function base64In(text: string): string | undefined {
  const payload = /^data:[^,]*;base64,(.*)$/s.exec(text)?.[1] ?? (/^[\w+/-]{200,}=*$/.test(text) ? text : undefined);
  return payload?.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
}

/** The leaves that are neither found, nor named among the losses, nor excused. */
export function lostLeaves(
  from: Json,
  found: Found,
  losses: readonly string[],
  excused: (leaf: Leaf) => boolean,
): readonly Leaf[] {
  const names = namesIn(losses);
  return leavesOf(from).filter((leaf) => !excused(leaf) && !found.has(leaf) && !isNamed(leaf, names));
}

/** What a loss names: its field, the one that this is a part of, and whether it is gone or only changed. */
interface Named {
  readonly field: string;
  readonly root: string | undefined;
  readonly isChange: boolean;
}

/** What the losses name. */
interface Names {
  readonly all: readonly Named[];
  /** The header had no room for all of them. */
  readonly more: boolean;
  readonly losses: readonly string[];
}

function namesIn(losses: readonly string[]): Names {
  const all = losses.map((loss): Named => {
    const colon = loss.lastIndexOf(':');
    const path = loss.slice(0, colon).split('.').map(plain);
    return {
      field: path.at(-1) ?? '',
      root: path.length > 1 ? path[0] : undefined,
      isChange: loss.endsWith(':changed'),
    };
  });
  return { all, losses, more: losses.some((loss) => /^and \d+ more$/.test(loss)) };
}

/** Members that hold everything: their name alone says nothing about a leaf inside. */
const CONTAINERS: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'system', 'instructions', 'tools', 'contents'],
  ...['choices', 'output', 'content', 'candidates', 'message', 'text', 'parts'],
]);

/** What is said stands in one of these, whichever of them a loss names; and one hint beside it means all of it. */
const TURNS: ReadonlySet<string> = new Set(['messages', 'input', 'system', 'instructions', 'prompt', 'cache_control']);

/** What citations are called. */
const SOURCES: readonly string[] = ['citations', 'annotations', 'groundingmetadata', 'citationmetadata'];

/** The same thing under the names that styles have for it: within what is said, and among the fields of a request. */
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

function isNamed(leaf: Leaf, { all, losses, more }: Names): boolean {
  if (more) return true;
  const { members, types, value, path } = leaf;
  // All answers but the first.
  const [, list, index] = /^(choices|candidates)\[(\d+)\]/.exec(path) ?? [];
  if (Number(index) > 0 && all.some(({ field }) => field === list)) return true;
  // Things that are asked for by their names are named by them.
  if (members.at(-1) === 'include' && losses.some((loss) => loss.includes(String(value)))) return true;
  const around = [...members, ...types];
  if (members.at(-1) === 'type' && typeof value === 'string') around.push(value);
  // The shape of an answer shares its member with the effort, and nothing else.
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

/** A part of what is said, or of the tools, is not lost anywhere else. */
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
