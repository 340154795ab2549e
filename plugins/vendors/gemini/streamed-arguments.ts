/** Assembles arguments of a call that arrive in pieces: values with their JSON paths. */

import type { Json, JsonObject } from '../../../core/plugin.ts';
import { exactText, isObject, member, objectsIn, parsed, textIn } from '../../../core/translation/index.ts';

type Node = Map<string, Node | Json> | (Node | Json)[];

/** Starts with the arguments that arrived as a whole; most calls have no others. */
export function growArguments(args: Json | undefined) {
  const exact = exactText(args);
  const root: Node = new Map(
    Object.entries(exact === undefined ? (isObject(args) ? args : {}) : (parsed(exact) ?? {})),
  );
  let isWhole = true;
  return {
    /** Applies the `partialArgs` of one part. */
    add(call: JsonObject): void {
      for (const piece of objectsIn(call, 'partialArgs')) {
        const steps = stepsOf(textIn(piece, 'jsonPath') ?? '');
        const value = pieceValue(piece);
        if (steps.length === 0 || value === undefined) continue;
        put(root, steps, value);
        isWhole = false;
      }
    },
    /** The object so far, as JSON text: the vendor's own if it arrived as a whole. */
    text: (): string => (isWhole && exact !== undefined ? exact : JSON.stringify(plain(root))),
  };
}

/** An object under construction. */
export type GrowingArguments = ReturnType<typeof growArguments>;

/** Longer than the path of any declared argument. */
const MAX_PATH = 1_024;

/** `$.items[0]['a name']` as `['items', 0, 'a name']`; empty if it is invalid. */
function stepsOf(path: string): readonly (string | number)[] {
  if (path.length > MAX_PATH) return [];
  const steps: (string | number)[] = [];
  const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
  step.lastIndex = 1;
  while (path.startsWith('$') && step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return [];
    const [, name, index, single, double] = match;
    steps.push(index === undefined ? (name ?? (single ?? double ?? '').replaceAll(/\\(.)/g, '$1')) : Number(index));
  }
  return steps;
}

function pieceValue(piece: JsonObject): Json | undefined {
  if (Object.hasOwn(piece, 'nullValue')) return null;
  return member(piece, 'stringValue') ?? member(piece, 'numberValue') ?? member(piece, 'boolValue');
}

/** A string is continued if it exists; any other value is replaced. */
function put(root: Node, steps: readonly (string | number)[], value: Json): void {
  let node = root;
  for (const [i, step] of steps.entries()) {
    const current = read(node, step);
    if (i === steps.length - 1) {
      write(node, step, typeof current === 'string' && typeof value === 'string' ? current + value : value);
      return;
    }
    const next: Node = isNode(current) ? current : typeof steps[i + 1] === 'number' ? [] : new Map();
    if (!write(node, step, next)) return;
    node = next;
  }
}

function isNode(value: Node | Json | undefined): value is Node {
  return value instanceof Map || Array.isArray(value);
}

function read(node: Node, step: string | number): Node | Json | undefined {
  return node instanceof Map ? node.get(String(step)) : node[Number(step)];
}

/** An index far beyond the end of a list would allocate as much memory as the vendor likes; such a piece is ignored. */
function write(node: Node, step: string | number, value: Node | Json): boolean {
  if (node instanceof Map) node.set(String(step), value);
  else if (Number(step) <= node.length) node[Number(step)] = value;
  else return false;
  return true;
}

function plain(value: Node | Json): Json {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, inner]) => [name, plain(inner)]));
  return Array.isArray(value) ? (value as (Node | Json)[]).map(plain) : value;
}
