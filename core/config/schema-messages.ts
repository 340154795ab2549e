/** Turns schema violations into messages for the author of gateway.yaml: what is wrong, and what would be right. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name the spelling
import type { ErrorObject } from 'ajv';
import { nearest } from '../helpers/nearest.ts';
import type { Path } from './yaml.ts';

/** One mistake in a value, and its path. */
export interface Mistake {
  readonly path: Path;
  readonly message: string;
  /** The schema of a valid value; undefined if another value would not help. */
  readonly schema?: Definition;
  /** The member must be removed. */
  readonly unwanted?: boolean;
}

type Definition = Readonly<Record<string, unknown>>;

/** The kind of input, on which the advice about types depends. */
export type Origin = 'file' | 'body' | 'query';

/** The mistakes behind the errors of one validation of `value`, without those of unintended alternatives. */
export function mistakes(errors: readonly ErrorObject[], value: unknown, origin: Origin = 'file'): Mistake[] {
  const found = meant(errors);
  // A misspelt key is one mistake, not an unknown key and a missing one.
  const meantKeys = new Set(found.map(renamed));
  return found.flatMap((error) => {
    if (error.keyword === 'required' && meantKeys.has(`${error.instancePath}/${error.params.missingProperty}`))
      return [];
    const path = pathOf(error.instancePath, value);
    const [step, message] = sentence(error, origin);
    if (message === undefined) return [];
    return [{ path: step === undefined ? path : [...path, step], message, ...remedy(error) }];
  });
}

/** The schema of a valid replacement. */
function remedy({ keyword, params, parentSchema = {} }: ErrorObject): Pick<Mistake, 'schema' | 'unwanted'> {
  if (keyword === 'additionalProperties') return { unwanted: true };
  if (keyword === 'required') return { schema: membersOf(parentSchema)[String(params.missingProperty)] ?? {} };
  return WHOLE.has(keyword) ? {} : { schema: parentSchema };
}

/** Mistakes of a list, a map or a name as a whole cannot be fixed by another value. */
const WHOLE = new Set([
  'dependencies',
  'propertyNames',
  'uniqueItems',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
]);

/** The member that an unknown key was probably meant to be. */
function renamed({ keyword, instancePath, params, parentSchema }: ErrorObject): string | undefined {
  if (keyword !== 'additionalProperties') return undefined;
  return `${instancePath}/${nearest(String(params.additionalProperty), Object.keys(membersOf(parentSchema ?? {})))}`;
}

/** One error as a sentence, and the member that it concerns if that is not the value itself. */
function sentence(
  error: ErrorObject,
  origin: Origin,
): readonly [step: string | number | undefined, message: string | undefined] {
  const params = error.params as Definition;
  const parent = (error.parentSchema ?? {}) as Definition;
  const data: unknown = error.data;
  switch (error.keyword) {
    case 'required': {
      const member = String(params.missingProperty);
      const schema = membersOf(parent)[member];
      return [member, `is missing; ${schema === undefined ? 'add it' : `it must be ${expected(schema)}`}`];
    }
    case 'dependencies':
      return [String(params.missingProperty), `is missing; ${String(params.property)} needs it`];
    case 'additionalProperties': {
      const member = String(params.additionalProperty);
      return [member, `unknown key; ${suggestion(member, Object.keys(membersOf(parent)))}`];
    }
    case 'propertyNames':
      return [
        String(params.propertyName),
        `this name is not allowed; it must be ${expected(error.schema as Definition)}`,
      ];
    case 'enum':
    case 'const': {
      const near =
        typeof data === 'string' && Array.isArray(parent.enum) ? nearest(data, parent.enum.map(String)) : undefined;
      return [undefined, `must be ${expected(parent)}${near === undefined ? '' : `; did you mean ${near}?`}`];
    }
    case 'type':
      return [undefined, `must be ${expected(parent)}, not ${kindOf(data)}${TYPE_HINTS[origin](parent, data)}`];
    case 'oneOf':
    case 'anyOf':
      if (params.passingSchemas) return [undefined, `is ambiguous; it must be only one of: ${expected(parent)}`];
      return [undefined, `must be ${expected(parent)}${fits(parent, data) ? '' : `, not ${kindOf(data)}`}`];
    case 'minLength':
      return [
        undefined,
        data === ''
          ? `must not be empty; it must be ${expected(parent)}`
          : `must have at least ${params.limit} characters`,
      ];
    case 'maxLength':
      return [undefined, `must have at most ${params.limit} characters`];
    case 'minItems':
    case 'minProperties':
      return [undefined, `must have at least ${count(params.limit)}`];
    case 'maxItems':
    case 'maxProperties':
      return [undefined, `must have at most ${count(params.limit)}`];
    case 'uniqueItems': {
      const [first, second] = [Number(params.i), Number(params.j)].sort((x, y) => x - y) as [number, number];
      return [second, `is the same as entry ${first + 1}; remove one`];
    }
    case 'not':
    case 'false schema':
      return [undefined, 'is not allowed here; remove it'];
    // The errors of the selected branch are reported themselves.
    case 'if':
      return [undefined, undefined];
    // pattern, format, minimum and the like: the expected value says enough.
    default:
      return [undefined, `must be ${expected(parent)}`];
  }
}

/** The expected value of a schema as a noun with an example: `a duration such as 250ms, 30s or 15m`. */
export function expected(schema: Definition): string {
  const { title, type, examples } = schema;
  const alternatives = schema.anyOf ?? schema.oneOf;
  let noun: string;
  if (Array.isArray(schema.enum)) return list(schema.enum.map(spelled), 'or');
  if (schema.const !== undefined) return spelled(schema.const);
  if (typeof title === 'string') noun = `${/^[aeio]/i.test(title) ? 'an' : 'a'} ${title}`;
  else if (Array.isArray(alternatives)) noun = list([...new Set((alternatives as Definition[]).map(expected))], 'or');
  else if (Array.isArray(type))
    noun = list(
      type.map((each) => expected({ ...schema, type: each, examples: undefined })),
      'or',
    );
  else if (type === 'object' || schema.properties !== undefined) noun = wantedMap(schema);
  else if (type === 'array')
    noun = schema.items ? `a list (each entry: ${expected(schema.items as Definition)})` : 'a list';
  else if (type === 'integer' || type === 'number')
    noun = `${type === 'integer' ? 'a whole number' : 'a number'}${range(schema)}`;
  else if (type === 'boolean') noun = 'true or false';
  else if (type === 'null') noun = 'empty';
  else if (type !== 'string') noun = 'something else';
  else if (Array.isArray(examples) || schema.pattern === undefined) noun = 'text';
  else noun = `text that matches ${String(schema.pattern)}`;
  return Array.isArray(examples) ? `${noun} such as ${list(examples.slice(0, 3).map(spelled), 'or')}` : noun;
}

function wantedMap(schema: Definition): string {
  const needed = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const names = needed.length > 0 ? needed : Object.keys(membersOf(schema));
  return names.length === 0 ? 'a map (name: value)' : `a map with ${list(names, needed.length > 0 ? 'and' : 'or')}`;
}

function range(schema: Definition): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const limits = [
    minimum === undefined ? '' : `, ${minimum} or more`,
    exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`,
    maximum === undefined ? '' : `, ${maximum} or less`,
    exclusiveMaximum === undefined ? '' : ` below ${exclusiveMaximum}`,
    multipleOf === undefined ? '' : `, in steps of ${multipleOf}`,
  ];
  return limits.join('');
}

/** Advice for an unknown name. */
function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `did you mean ${near}?`;
  return known.length === 0 ? 'nothing is allowed here' : `known here: ${list(known, 'and')}`;
}

function typeHint(schema: Definition, data: unknown): string {
  const types = [schema.type].flat();
  if (types.includes('string') && (typeof data === 'number' || typeof data === 'boolean')) {
    // Quotes make text, not a duration.
    const fitting = schema.pattern === undefined || new RegExp(String(schema.pattern), 'u').test(String(data));
    return fitting && schema.format === undefined ? '; put it in quotes' : '';
  }
  if (typeof data !== 'string' || data.trim() === '') return '';
  const number = types.includes('integer') || types.includes('number');
  const plain = number ? Number.isFinite(Number(data)) : types.includes('boolean') && /^(?:true|false)$/.test(data);
  return plain ? '; write it without quotes' : '';
}

const TYPE_HINTS: Readonly<Record<Origin, typeof typeHint>> = {
  file(schema, data) {
    const hint = typeHint(schema, data);
    return hint.endsWith('without quotes') ? `${hint} (and without \${…}, which always makes text)` : hint;
  },
  body: typeHint,
  // All query values are text.
  query: () => '',
};

/**
 * Of errors below alternatives (`anyOf`, `oneOf`), keeps those of the alternative that was intended; if that is
 * unclear, all alternatives are one sentence. Names that break `propertyNames` are reported once.
 */
function meant(errors: readonly ErrorObject[]): ErrorObject[] {
  let left = errors.filter((error) => error.propertyName === undefined || error.keyword === 'propertyNames');
  // The outermost first: dropping it drops the inner ones, too.
  const unions = left.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  unions.sort((a, b) => a.schemaPath.length - b.schemaPath.length);
  for (const union of unions) {
    if (!left.includes(union)) continue;
    const chosen = branchMeant(union.schema as readonly Definition[], union.data);
    const chosenErrors = chosen === undefined ? [] : left.filter((error) => isBelow(error, union, `/${chosen}/`));
    left = left.filter((error) => {
      if (error === union) return chosenErrors.length === 0;
      return chosenErrors.includes(error) || !isBelow(error, union, '/');
    });
  }
  return left;
}

function isBelow(error: ErrorObject, union: ErrorObject, branch: string): boolean {
  const inside = error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`);
  return inside && error.schemaPath.startsWith(`${union.schemaPath}${branch}`);
}

/** The alternative that a map or list was probably meant to be: the only one of its kind, or with most of its keys. */
function branchMeant(branches: readonly Definition[], data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const scores = branches.map((branch) => {
    if (!fits(branch, data)) return -1;
    return Array.isArray(data) ? 0 : Object.keys(data).filter((name) => Object.hasOwn(membersOf(branch), name)).length;
  });
  const best = Math.max(...scores);
  const winner = scores.indexOf(best);
  return best < 0 || scores.lastIndexOf(best) !== winner ? undefined : winner;
}

/** Whether a schema accepts values of this kind at all. */
function fits(schema: Definition, data: unknown): boolean {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return (alternatives as Definition[]).some((each) => fits(each, data));
  const kind = typeOf(data);
  if (Array.isArray(schema.enum)) return schema.enum.some((each) => typeOf(each) === kind);
  if (schema.const !== undefined) return typeOf(schema.const) === kind;
  if (schema.type === undefined) return true;
  return [schema.type].flat().some((type) => type === kind || (type === 'integer' && kind === 'number'));
}

/** The name of the kind in schemas. */
function typeOf(data: unknown): string {
  if (data === null) return 'null';
  return Array.isArray(data) ? 'array' : typeof data;
}

function membersOf(schema: Definition): Readonly<Record<string, Definition>> {
  return (schema.properties ?? {}) as Readonly<Record<string, Definition>>;
}

/** The validator's instance path as a path into the value. */
function pathOf(pointer: string, value: unknown): Path {
  let at: unknown = value;
  return pointer
    .split('/')
    .slice(1)
    .map((escaped) => {
      const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
      const inList = Array.isArray(at);
      at = (at as Readonly<Record<string, unknown>> | undefined)?.[step];
      return inList ? Number(step) : step;
    });
}

function kindOf(data: unknown): string {
  if (data === null || data === undefined) return 'empty';
  if (Array.isArray(data)) return 'a list';
  if (typeof data === 'object') return 'a map';
  if (typeof data === 'number') return Number.isInteger(data) ? 'a number' : 'a fraction';
  return typeof data === 'string' ? 'text' : String(data);
}

function spelled(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}

function count(limit: unknown): string {
  return limit === 1 ? '1 entry' : `${String(limit)} entries`;
}

function list(words: readonly string[], last: 'and' | 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
