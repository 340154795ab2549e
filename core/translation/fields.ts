/** Reads an object of a client's or a vendor's field by field, and knows in the end which fields nobody has read. */
import { coreErrors } from '../contracts/errors.ts';
import type { Json, JsonObject } from '../contracts/json.ts';

/**
 * One object under inspection. `null` counts as left out. A field of another type than asked for is refused with 400 and its
 * path (`messages[2].content`).
 */
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
  /** The fields of an object inside. */
  fields(name: string): Fields | undefined;
  /** Each object of a list inside; refuses where one is none. */
  each(name: string): readonly Fields[];
  /** Where a field stands: `messages[2].content`. */
  at(name: string): string;
  /** Refuses the call because of a field; `should` ends the sentence that begins with its path: `must be a string`. */
  wrong(name: string, should: string): never;
  /** What nobody has read so far. */
  rest(): JsonObject;
}

/** Begins to read an object; refuses where it is none. */
export function readFields(value: Json | undefined, path: string): Fields {
  return isObject(value) ? new ObjectFields(value, path) : wrong(path, 'must be an object');
}

/** A class, because there is one for every object of a body: nothing but the facts is made for each. */
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
    const found = Object.hasOwn(this.#object, name) ? this.#object[name] : undefined;
    return found === null ? undefined : found;
  }

  text(name: string): string | undefined {
    const found = this.get(name);
    return found === undefined || typeof found === 'string' ? found : this.wrong(name, 'must be a string');
  }

  number(name: string): number | undefined {
    const found = this.get(name);
    return found === undefined || typeof found === 'number' ? found : this.wrong(name, 'must be a number');
  }

  flag(name: string): boolean | undefined {
    const found = this.get(name);
    return found === undefined || typeof found === 'boolean' ? found : this.wrong(name, 'must be true or false');
  }

  list(name: string): readonly Json[] | undefined {
    const found = this.get(name);
    return found === undefined || isList(found) ? found : this.wrong(name, 'must be an array');
  }

  object(name: string): JsonObject | undefined {
    const found = this.get(name);
    return found === undefined || isObject(found) ? found : this.wrong(name, 'must be an object');
  }

  fields(name: string): Fields | undefined {
    const found = this.object(name);
    return found && readFields(found, this.at(name));
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

/** True for what JSON calls an object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function wrong(path: string, should: string): never {
  const name = path === '' ? 'The body' : `\`${path}\``;
  throw coreErrors.invalid_request_error(`${name} ${should}.`).with({ param: path });
}
