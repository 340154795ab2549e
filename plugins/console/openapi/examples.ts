/** Examples of values, made from their schemas: the names of members say which values are usual. */
import { isMembers, type Members } from './schema-walk.ts';

/** Unix seconds: 15 September 2026, 08:53:20 UTC. */
const TIME = 1_789_462_400;
const REQUEST_ID = '1l3v4k6q5s0000000000000000';

/** Usual texts by the name of the member, or the end of the name. The first that fits the schema is taken. */
const TEXTS: readonly (readonly [name: RegExp, text: string])[] = [
  [/email|keyword_email/, 'ann@example.com'],
  [/^(request_id|before|next|id)$/, REQUEST_ID],
  [/username|person|maker|^by$/, 'ann'],
  [/password/, 'correct horse battery'],
  [/^display_name$/, 'Ann'],
  [/^(token_name|key_name)$/, 'laptop'],
  [/^(code|backup_code)$/, '492039'],
  [/^(token|key|secret)$/, 'sk-example'],
  [/^month$/, '2026-09'],
  [/^(date|day|from|until|since)$/, '2026-09-15'],
  [/^(lang|language|locale)$/, 'en'],
  [/trade_no|order/, 'T1789462400001'],
  [/provider/, 'github'],
  [/channel/, 'main'],
  [/model/, 'example-model'],
  [/department|group_name/, 'Research'],
  [/tag/, 'batch'],
  [/^(plan|plan_id)$/, 'monthly'],
  [/(^|_)url$|^url|_link$/, 'https://example.com/'],
  [/(^|_)ips?$|address/, '203.0.113.7'],
  [/price|cost|total|charged|amount|factor|ratio|money|balance/, '1.5'],
  [/version/, '1.0.0'],
  [/^action$/, 'key.create'],
  [/name$/, 'example'],
];
/** Texts of a format, and for patterns that no name is usual for. */
const FORMATS: Readonly<Record<string, string>> = {
  uri: 'https://example.com/',
  email: 'ann@example.com',
  binary: '',
  'date-time': '2026-09-15T08:53:20Z',
};
const SPELLINGS = ['example', '1', '2026-09-15', '2026-09', 'EXAMPLE', 'ann@example.com', REQUEST_ID, '/example', ''];

/** An example of a schema's values. `name`: the name of the member that has it. */
export function exampleOf(schema: Members, name = ''): unknown {
  const { examples, enum: words, anyOf, oneOf, type } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if ('const' in schema) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(words)) return words[0];
  const [choice] = [anyOf, oneOf].flatMap((each) => (Array.isArray(each) ? each : []));
  if (isMembers(choice)) return exampleOf(choice, name);
  switch ([type].flat().find((each) => each !== 'null') ?? (type === 'null' ? 'null' : undefined)) {
    case 'string':
      return textOf(schema, name);
    case 'integer':
    case 'number':
      return numberOf(schema, name);
    case 'boolean':
      return false;
    case 'array':
      return isMembers(schema.items) && schema.maxItems !== 0 ? [exampleOf(schema.items, name.replace(/s$/, ''))] : [];
    case 'object':
      return objectOf(schema, name);
    default:
      return null;
  }
}

function textOf(schema: Members, name: string): string {
  const {
    pattern,
    minLength = 0,
    maxLength = Number.POSITIVE_INFINITY,
    format,
  } = schema as {
    readonly pattern?: string;
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly format?: string;
  };
  const fits = (text: string): boolean =>
    (pattern === undefined || new RegExp(pattern, 'u').test(text)) &&
    text.length >= minLength &&
    text.length <= maxLength;
  const usual = TEXTS.flatMap(([names, text]) => (names.test(name) ? [text] : []));
  const texts = [...(format === undefined ? [] : [FORMATS[format] ?? '']), ...usual, ...SPELLINGS];
  return texts.find(fits) ?? 'x'.repeat(minLength);
}

function numberOf({ minimum, maximum, type }: Members, name: string): number {
  const usual = /(_at|_time|timestamp|since|until)$/.test(name)
    ? TIME
    : /quota|tokens|amount|value/.test(name)
      ? 500_000
      : [type].flat().includes('integer')
        ? 1
        : 0.5;
  const least = typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY;
  const most = typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY;
  return Math.min(Math.max(usual, least), most);
}

function objectOf({ properties, required, additionalProperties }: Members, name: string): Members {
  const all = isMembers(properties) ? properties : {};
  const always = Array.isArray(required) ? required : [];
  const isRequest = additionalProperties === false;
  const shown = Object.entries(all).filter(([member, schema]) => {
    if (always.includes(member)) return true;
    // A request with every member would say more than it means to.
    if (isRequest && always.length > 0) return false;
    return isMembers(schema) && !schema.readOnly && !schema.deprecated && Object.keys(schema).some((k) => SAYS.has(k));
  });
  const members = Object.fromEntries(shown.map(([member, schema]) => [member, exampleOf(schema as Members, member)]));
  if (shown.length > 0 || !isMembers(additionalProperties)) return members;
  return { [String(textOf({}, `${name.replace(/s$/, '')}_name`))]: exampleOf(additionalProperties, name) };
}

/** The keywords of which one is needed to know a value. */
const SAYS = new Set(['type', 'enum', 'const', 'anyOf', 'oneOf', 'default', 'examples']);
