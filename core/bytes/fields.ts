/** Reads an object of a client or a vendor field by field, and records which fields were not read. */
import { coreErrors } from '../contracts/errors.ts';
import type { Json, JsonObject } from '../contracts/formats/json.ts';

/** One object. `null` counts as missing. Wrong types are refused with 400 and their path (`messages[2].content`). */
export interface Fields {
  /** `messages[2]`; empty for the body itself. */
  readonly path: string;
  /** Any value. */
  get(name: string): Json | undefined;
  text(name: string): string | undefined;
  number(name: string): number | undefined;
  flag(name: string): boolean | undefined;
  list(name: string): readonly Json[] | undefined;
  object(name: string): JsonObject | undefined;
  /** The fields of a nested object. */
  fields(name: string): Fields | undefined;
  /** Each object of a nested list; refuses other items. */
  each(name: string): readonly Fields[];
  /** The path of a field: `messages[2].content`. */
  at(name: string): string;
  /** Refuses the call because of a field; `should` ends the sentence that starts with its path: `must be a string`. */
  wrong(name: string, should: string): never;
  /** The fields that were not read. */
  rest(): JsonObject;
}

/** Starts to read an object; refuses other values. */
export function readFields(value: Json | undefined, path: string): Fields {
  return isObject(value) ? new ObjectFields(value, path) : wrong(path, 'must be an object');
}

/** A class, because one is created for every object of a body. */
class ObjectFields implements Fields {
  readonly path: string;
  readonly #object: JsonObject;
  /** A list: few fields are read of one object, and most objects of a body are small. */
  readonly #read: string[] = [];

  constructor(object: JsonObject, path: string) {
    this.#object = object;
    this.path = path;
  }

  get(name: string): Json | undefined {
    this.#read.push(name);
    const value = Object.hasOwn(this.#object, name) ? this.#object[name] : undefined;
    return value === null ? undefined : value;
  }

  text(name: string): string | undefined {
    const value = this.get(name);
    return value === undefined || typeof value === 'string' ? value : this.wrong(name, 'must be a string');
  }

  number(name: string): number | undefined {
    const value = this.get(name);
    return value === undefined || typeof value === 'number' ? value : this.wrong(name, 'must be a number');
  }

  flag(name: string): boolean | undefined {
    const value = this.get(name);
    return value === undefined || typeof value === 'boolean' ? value : this.wrong(name, 'must be true or false');
  }

  list(name: string): readonly Json[] | undefined {
    const value = this.get(name);
    return value === undefined || isList(value) ? value : this.wrong(name, 'must be an array');
  }

  object(name: string): JsonObject | undefined {
    const value = this.get(name);
    return value === undefined || isObject(value) ? value : this.wrong(name, 'must be an object');
  }

  fields(name: string): Fields | undefined {
    const value = this.object(name);
    return value && readFields(value, this.at(name));
  }

  each(name: string): readonly Fields[] {
    const list = this.list(name);
    if (list === undefined || list.length === 0) return NO_FIELDS;
    const path = this.at(name);
    return list.map((item, i) => readFields(item, `${path}[${i}]`));
  }

  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  wrong(name: string, should: string): never {
    return wrong(this.at(name), should);
  }

  rest(): JsonObject {
    for (const name in this.#object) if (this.#isLeft(name)) return this.#all();
    return NOTHING;
  }

  #isLeft(name: string): boolean {
    return this.#object[name] !== null && !this.#read.includes(name);
  }

  #all(): JsonObject {
    const read = new Set(this.#read);
    return Object.fromEntries(
      Object.entries(this.#object).filter(([name, found]) => !read.has(name) && found !== null),
    );
  }
}

const NOTHING: JsonObject = Object.freeze({});
const NO_FIELDS: readonly Fields[] = Object.freeze([]);

/** True for a JSON object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether an object has no members; cheaper than a list of them. */
export function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function wrong(path: string, should: string): never {
  const name = path === '' ? 'The body' : `\`${path}\``;
  throw coreErrors.invalid_request_error(`${name} ${should}.`).with({ param: path });
}
