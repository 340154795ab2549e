/** Collects translation warnings, for the header `x-turnpike-translation` and the usage record. */

import { coreErrors } from '../../contracts/errors.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import type { GatewayError } from '../../contracts/gateway-error.ts';

/** The collected warnings. Some names come from clients and vendors, so they are limited; the last counts the rest. */
export interface CollectedWarnings extends Warnings {
  /** `top_k:dropped`, each once, in order of occurrence; `and 12 more`. */
  readonly all: readonly string[];
  /** Warnings that change the answer: refused in strict mode. */
  readonly serious: readonly string[];
  readonly isEmpty: boolean;
  /** The first reason given to `bar`, if warnings are only collected to look at a request. */
  readonly barred: GatewayError | undefined;
  /** Adds the warnings of another collector, by the same names. */
  add(others: CollectedWarnings): void;
}

const MAX_WARNINGS = 64;
const MAX_NAME = 64;

/** `names`: the client style's names of fields. `looks`: `bar` does not end the decoding. */
export function collectWarnings(names: Readonly<Record<string, string>>, looks = false): CollectedWarnings {
  return new NamedWarnings(names, looks);
}

const NONE: readonly string[] = [];

/** A class, because one is created for every attempt, and most have no warnings. */
class NamedWarnings implements CollectedWarnings {
  readonly #names: Readonly<Record<string, string>>;
  readonly #looks: boolean;
  /** Whether each of them is more than a hint. */
  #entries: Map<string, boolean> | undefined;
  barred: GatewayError | undefined;

  constructor(names: Readonly<Record<string, string>>, looks: boolean) {
    this.#names = names;
    this.#looks = looks;
  }

  get all(): readonly string[] {
    return this.#entries === undefined ? NONE : firstOf([...this.#entries.keys()]);
  }

  get serious(): readonly string[] {
    if (this.#entries === undefined) return NONE;
    return firstOf([...this.#entries].flatMap(([warning, isSerious]) => (isSerious ? [warning] : [])));
  }

  get isEmpty(): boolean {
    return this.#entries === undefined;
  }

  drop(field: string, kind?: 'hint'): void {
    this.#add(`${this.nameOf(field)}:dropped`, kind !== 'hint');
  }

  leave(name: string, kind?: 'hint'): void {
    this.#add(`${short(name)}:dropped`, kind !== 'hint');
  }

  change(field: string, kind?: 'hint'): void {
    this.#add(`${this.nameOf(field)}:changed`, kind !== 'hint');
  }

  omit(what: string): void {
    this.#add(`${short(what)}:omitted`, false);
  }

  nameOf(field: string): string {
    const dot = field.indexOf('.');
    const first = dot === -1 ? field : field.slice(0, dot);
    return short(this.#own(field) ?? (this.#own(first) ?? first) + field.slice(first.length));
  }

  refuse(field: string, why: string): never {
    throw this.#refusal(field, why);
  }

  bar(field: string, why: string): void {
    if (!this.#looks) throw this.#refusal(field, why);
    this.barred ??= this.#refusal(field, why);
  }

  add(others: NamedWarnings): void {
    for (const [warning, isSerious] of others.#entries ?? []) this.#add(warning, isSerious);
  }

  #refusal(field: string, why: string): GatewayError {
    const name = this.nameOf(field);
    return coreErrors.unsupported_parameter(`\`${name}\` ${why}`).with({ param: name });
  }

  #own(field: string): string | undefined {
    return Object.hasOwn(this.#names, field) ? this.#names[field] : undefined;
  }

  #add(warning: string, isSerious: boolean): void {
    this.#entries ??= new Map();
    this.#entries.set(warning, isSerious || this.#entries.get(warning) === true);
  }
}

function short(name: string): string {
  return name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name;
}

function firstOf(warnings: readonly string[]): readonly string[] {
  if (warnings.length <= MAX_WARNINGS) return warnings;
  return [...warnings.slice(0, MAX_WARNINGS), more(warnings.length - MAX_WARNINGS)];
}

function more(count: number): string {
  return `and ${count} more`;
}

/** The number of warnings that an entry stands for. */
function countOf(word: string): number {
  return Number(/^and (\d+) more$/.exec(word)?.[1] ?? 1);
}

/** Maximum length of the header: some clients and proxies allow 8 KiB for all headers. */
const MAX_HEADER = 1_024;

/** The header's value; omitted warnings are counted at its end. */
export function warningHeader(warnings: readonly string[]): string {
  const words = warnings.map((warning) => warning.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(',', ';'));
  let value = words.join(', ');
  for (let kept = words.length - 1; value.length > MAX_HEADER && kept >= 0; kept--) {
    const left = words.slice(kept).reduce((sum, word) => sum + countOf(word), 0);
    value = [...words.slice(0, kept), more(left)].join(', ');
  }
  return value;
}
