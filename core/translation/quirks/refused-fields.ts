/**
 * Optional members of translated requests, and reasoning in histories, that a vendor refused by name. Which ones a server accepts is often
 * known from its refusal only: the request is repeated once without the member, and later ones are sent without it.
 */

import { isObject } from '../../bytes/fields.ts';
import { member, objectsIn, parsed } from '../../bytes/values.ts';
import type { Offer } from '../../contracts/formats/call.ts';
import { keyNameOf } from '../../contracts/formats/channel.ts';
import type { Json, JsonObject } from '../../contracts/formats/json.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import { boundedMap } from '../../helpers/bounded-map.ts';
import { refusalIn } from '../vendor-errors.ts';
import { SAMPLING_FIELDS } from './sampling.ts';

/** Reasoning in the messages of a history: the gateway itself put it into the answers that the client sends back. */
const REASONING = ['reasoning_content', 'reasoning_details', 'reasoning'];

/** Sampling options, by the names of most styles. */
const SAMPLING: readonly string[] = Object.values(SAMPLING_FIELDS).map(({ name }) => name);

/** Members that the answer does not depend on, or only a little; the request says the same without them. */
const OPTIONAL = [
  ...['reasoning_effort', 'parallel_tool_calls', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention'],
  ...['prompt_cache_options', 'safety_identifier', 'metadata', 'user', 'store', 'verbosity', 'stream_options'],
  ...['enable_thinking', 'thinking_budget', 'thinking', 'reasoning', 'include', 'truncation', 'client_metadata'],
  ...SAMPLING,
];

/** How servers say that they do not know a member. */
const UNKNOWN =
  /not (be )?(support|permit|allow|accept|recogni|valid|available|enabled)|deprecated|unsupported|unknown|unrecogni[sz]ed|unexpected|extra (input|field)|extra_forbidden|does not (support|accept|exist)|no such|invalid (field|parameter|argument|property)/i;

/** Only the beginning of a message is read: the rest may quote the request. */
const MAX_READ = 500;

/**
 * What of an offer's request this refusal is about: an optional member of the body, `messages.reasoning` or `tools.strict`; undefined if it is about something
 * else, or if it is left out already. `isOwn`: the client uses the same style, and chose its members for this vendor.
 */
export function refusedField(refusal: Buffer, body: Buffer, { quirks }: Offer, isOwn: boolean): string | undefined {
  const error = refusalIn(refusal);
  if (error === undefined) return undefined;
  const message = error.message.slice(0, MAX_READ);
  if (!UNKNOWN.test(message) && !UNKNOWN.test(error.code.replaceAll('_', ' '))) return undefined;
  const members = parsed(body.toString('utf8'));
  const field = isOwn ? undefined : OPTIONAL.find((name) => names(message, name) && holds(members, name));
  const isInHistory =
    tells(message, REASONING) && objectsIn(members, 'messages').some((each) => REASONING.some((name) => name in each));
  const isInTools =
    !isOwn && tells(message, ['strict']) && objectsIn(members, 'tools').some((tool) => strictOf(tool) !== undefined);
  const found = field ?? (isInHistory ? HISTORY : isInTools ? STRICT : undefined);
  return found === undefined || isLeftOut(found, quirks) ? undefined : found;
}

const HISTORY = 'messages.reasoning';
const STRICT = 'tools.strict';

/** Whether a message has one of these names, also in a path. */
function tells(message: string, words: readonly string[]): boolean {
  return words.some((word) => new RegExp(`(^|\\W)${word}(?!\\w)`).test(message));
}

function strictOf(tool: JsonObject): Json | undefined {
  return member(tool.function, 'strict') ?? tool.strict;
}

/** Whether a body has a member; some styles have sampling options in a group, in camel case. */
function holds(members: Json | undefined, name: string): boolean {
  if (member(members, name) !== undefined) return true;
  const options = member(members, 'generationConfig');
  return (
    isObject(options) && Object.keys(options).some((option) => inSnakeCase(option).replace(/^response_/, '') === name)
  );
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether a message has the name as a word of its own, not as a part of a path or another name. */
function names(message: string, name: string): boolean {
  return new RegExp(`(^|[^\\w.\\]]|\\bbody\\.)${name}(?![\\w.[])`).test(inSnakeCase(message).replace(/^_/, ''));
}

/** A channel may set a member that its vendor refuses; leaving it out again would change nothing. */
function isLeftOut(field: string, { drop_fields: dropped, sampling, reasoning, tools }: Quirks): boolean {
  if (field === HISTORY) return reasoning.echo === 'never';
  if (field === STRICT) return !tools.strict;
  return SAMPLING.includes(field) ? !sampling.allowed.includes(field) : dropped.includes(field);
}

/** The quirks of a model that gets none of these. */
function without(quirks: Quirks, fields: ReadonlySet<string>): Quirks {
  const { sampling, reasoning, tools, drop_fields: dropped } = quirks;
  const members = [...fields].filter((field) => ![HISTORY, STRICT, ...SAMPLING].includes(field));
  return {
    ...quirks,
    drop_fields: [...new Set([...dropped, ...members])],
    sampling: { ...sampling, allowed: sampling.allowed.filter((name) => !fields.has(name)) },
    ...(fields.has(HISTORY) && { reasoning: { ...reasoning, echo: 'never' } }),
    ...(fields.has(STRICT) && { tools: { ...tools, strict: false } }),
  };
}

/** More models than a gateway has. */
const MOST = 10_000;

/** Remembers them for each model of each channel, until the configuration changes. */
export function createRefusedFields() {
  const known = boundedMap<string, ReadonlySet<string>>(MOST);
  const keyOf = ({ channel, model, style }: Offer): string => JSON.stringify([keyNameOf(channel), model, style]);
  return {
    /** Adds one; the offer without it. */
    add(offer: Offer, field: string): Offer {
      known.set(keyOf(offer), new Set([...(known.get(keyOf(offer)) ?? []), field]));
      return this.without(offer, false);
    },
    /** The offer whose model gets none of them. `isOwn`: none but those that the gateway itself put into the history. */
    without(offer: Offer, isOwn: boolean): Offer {
      if (known.size === 0) return offer;
      const all = known.get(keyOf(offer));
      const fields = isOwn && all !== undefined ? new Set([...all].filter((field) => field === HISTORY)) : all;
      return fields === undefined || fields.size === 0 ? offer : { ...offer, quirks: without(offer.quirks, fields) };
    },
  };
}

/** What is remembered. */
export type RefusedFields = ReturnType<typeof createRefusedFields>;
