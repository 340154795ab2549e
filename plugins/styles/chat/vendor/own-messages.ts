/**
 * Messages that are forwarded in this style, as far as their vendor would refuse them: they were written for another model of the same
 * conversation, or by a client that knows only one vendor.
 */
import type { Json, JsonBody, JsonObject, Patch, Warnings } from '../../../../core/plugin.ts';
import { callId, hasOddCallIds, isObject, type Quirks } from '../../../../core/translation/index.ts';

/** A change of all messages. The same list if there is nothing to change. */
type Step = (messages: readonly Json[]) => readonly Json[];

/** The steps that may change something, by the bytes of the request: parsing each conversation would be too slow. */
export function messageSteps(body: JsonBody, { quirks, warnings }: Patch): Step[] {
  const { reasoning, roles, tools } = quirks;
  const steps: Step[] = [];
  const mustEcho = reasoning.echo === 'tool_turns' || reasoning.echo === 'all';
  if (mustEcho && body.holds('"tool_calls"')) steps.push((messages) => withReasoning(messages, reasoning, warnings));
  if (reasoning.echo === 'never' && REASONING.some((name) => body.holds(`"${name}"`))) {
    steps.push((messages) => withoutReasoning(messages, warnings));
  }
  if (mayMoveRoles(body, roles)) steps.push((messages) => withRoles(messages, roles, warnings));
  if (hasOddCallIds(body, 'tool_call_id', tools)) steps.push((messages) => withIds(messages, tools, warnings));
  return steps;
}

// ---- reasoning

/** The members of an assistant message that have its reasoning. */
const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** Models that require the reasoning of their tool calls refuse a history without it; many clients do not send it. */
function withReasoning(
  messages: readonly Json[],
  { field, echo_filler: filler }: Quirks['reasoning'],
  warnings: Warnings,
): readonly Json[] {
  if (field === 'reasoning_details' || filler === '') return messages;
  const lacks = (message: Json): message is JsonObject =>
    isObject(message) && Array.isArray(message.tool_calls) && !message[field];
  if (!messages.some(lacks)) return messages;
  warnings.change('messages.reasoning', 'hint');
  const other = field === 'reasoning' ? 'reasoning_content' : 'reasoning';
  return messages.map((message) => {
    if (!lacks(message)) return message;
    const { [other]: text, ...rest } = message;
    return { ...rest, [field]: typeof text === 'string' && text !== '' ? text : filler };
  });
}

function withoutReasoning(messages: readonly Json[], warnings: Warnings): readonly Json[] {
  const has = (message: Json): message is JsonObject =>
    isObject(message) && REASONING.some((name) => Object.hasOwn(message, name));
  if (!messages.some(has)) return messages;
  warnings.drop('messages.reasoning', 'hint');
  return messages.map((message) => {
    if (!has(message)) return message;
    const { reasoning_content: _, reasoning: __, reasoning_details: ___, ...rest } = message;
    return rest;
  });
}

// ---- roles

type Roles = Quirks['roles'];

/** Whether there is an instruction whose role or position may be wrong. */
function mayMoveRoles(body: JsonBody, { developer, mid_system: middle, merge_system: merged }: Roles): boolean {
  if (developer === 'system' && body.holds('"developer"')) return true;
  if (middle === 'native' && !merged) return false;
  if (!body.holds('"system"')) return false;
  const { bytes } = body;
  const first = bytes.indexOf('"system"');
  const before = bytes.subarray(0, first);
  return before.includes('"user"') || before.includes('"assistant"') || bytes.indexOf('"system"', first + 1) !== -1;
}

function isInstruction(message: Json): message is JsonObject {
  return isObject(message) && (message.role === 'system' || message.role === 'developer');
}

/** The same as for requests of other styles: renamed, joined at the front, and in the middle moved there, or wrapped in a user message. */
function withRoles(messages: readonly Json[], roles: Roles, warnings: Warnings): readonly Json[] {
  const named = roles.developer === 'system' ? messages.map((message) => asSystem(message, warnings)) : messages;
  const found = named.findIndex((message) => !isInstruction(message));
  const begin = found === -1 ? named.length : found;
  const rest = named.slice(begin);
  const front = named.slice(0, begin) as JsonObject[];
  const moved = roles.mid_system !== 'native' && rest.some(isInstruction);
  if (moved) warnings.change('messages.system');
  if (moved && roles.mid_system === 'front') front.push(...rest.filter(isInstruction));
  const others = !moved
    ? rest
    : roles.mid_system === 'front'
      ? rest.filter((message) => !isInstruction(message))
      : rest.reduce<Json[]>((turns, message) => addWrapped(turns, message), []);
  if (!roles.merge_system || front.length < 2) return [...front, ...others];
  warnings.change('messages.system', 'hint');
  const content = front.map((each) => each.content).reduce<Json | undefined>(joined, undefined)!;
  return [{ ...front[0], content }, ...others];
}

function asSystem(message: Json, warnings: Warnings): Json {
  if (!isObject(message) || message.role !== 'developer') return message;
  warnings.change('messages.role', 'hint');
  return { ...message, role: 'system' };
}

/** Neighbours of one role are joined, because many templates want them to alternate. */
function addWrapped(turns: Json[], message: Json): Json[] {
  const isWrapped = isInstruction(message);
  const own = isWrapped ? { role: 'user', content: reminder(message.content) } : message;
  const last = turns.at(-1);
  const isNeighbour = isObject(own) && own.role === 'user' && isObject(last) && last.role === 'user';
  if (isNeighbour && (isWrapped || isReminder(last))) {
    turns[turns.length - 1] = { ...last, ...own, content: joined(last.content, own.content) };
  } else turns.push(own);
  return turns;
}

const OPEN = '<system-reminder>\n';

function reminder(content: Json | undefined): string {
  const texts = partsOf(content).flatMap((part) =>
    isObject(part) && typeof part.text === 'string' ? [part.text] : [],
  );
  return `${OPEN}${texts.join('\n\n')}\n</system-reminder>`;
}

function isReminder({ content }: JsonObject): boolean {
  return partsOf(content).some((part) => isObject(part) && typeof part.text === 'string' && part.text.includes(OPEN));
}

function joined(one: Json | undefined, other: Json | undefined): Json {
  if (one === undefined) return other ?? '';
  if (typeof one === 'string' && typeof other === 'string') return `${one}\n\n${other}`;
  return [...partsOf(one), ...partsOf(other)];
}

function partsOf(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content as readonly Json[];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

// ---- ids

function withIds(messages: readonly Json[], rule: Quirks['tools'], warnings: Warnings): readonly Json[] {
  let changed = false;
  const fitted = (id: Json | undefined): Json => {
    const own = typeof id === 'string' ? callId(id, rule) : (id ?? null);
    changed ||= own !== id;
    return own;
  };
  const own = messages.map((message) => {
    if (!isObject(message)) return message;
    const { tool_calls: calls, tool_call_id: id } = message;
    return {
      ...message,
      ...(typeof id === 'string' && { tool_call_id: fitted(id) }),
      ...(Array.isArray(calls) && {
        tool_calls: calls.map((call: Json) => (isObject(call) ? { ...call, id: fitted(call.id) } : call)),
      }),
    };
  });
  if (!changed) return messages;
  warnings.change('messages.tool_calls.id', 'hint');
  return own;
}
