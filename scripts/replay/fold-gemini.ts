/** Folds the streams of the vendor whose events are partial answers, and whose calls may be streamed by argument. */

import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { StreamEvent } from './event-stream.ts';
import type { Folded } from './folded.ts';
import { isObject, listOf, objectOf, objectsOf, textOf } from './json.ts';

type Open = { [member: string]: Json };

/** The whole answer. */
export function foldGemini(events: readonly StreamEvent[]): Folded {
  const body: Open = {};
  const candidate: Open = {};
  const usage: Open = {};
  const parts: Open[] = [];
  let open: Open | undefined;
  let error: string | undefined;
  for (const { data } of events) {
    if (!isObject(data)) continue;
    const message = objectOf(data.error).message;
    if (data.error !== undefined) error ??= textOf(message) || 'error';
    const { candidates, usageMetadata, ...rest } = data;
    Object.assign(body, rest);
    for (const [name, value] of Object.entries(objectOf(usageMetadata))) {
      // An event in the middle may report a count of zero.
      if (value !== 0 || usage[name] === undefined) usage[name] = value;
    }
    const [first] = objectsOf(candidates);
    if (first === undefined) continue;
    const { content, ...facts } = first;
    for (const [name, value] of Object.entries(facts)) {
      if (!isObject(value) || Object.keys(value).length > 0) candidate[name] = value;
    }
    for (const part of objectsOf(objectOf(content).parts)) open = addPart(parts, part, open);
  }
  candidate.content = { role: 'model', parts: parts.map(tidied) };
  body.candidates = [candidate];
  body.usageMetadata = usage;
  return { body, error, ended: candidate.finishReason !== undefined, torn: false };
}

/** Adds a part; returns the call that continues in the next one. */
function addPart(parts: Open[], part: JsonObject, open: Open | undefined): Open | undefined {
  const last = parts.at(-1);
  if (typeof part.text === 'string') {
    const goesOn =
      typeof last?.text === 'string' && last.thought === part.thought && last.thoughtSignature === undefined;
    if (goesOn) Object.assign(last!, part, { text: textOf(last!.text) + part.text });
    else parts.push({ ...part });
    return undefined;
  }
  if (!isObject(part.functionCall)) {
    parts.push({ ...part });
    return undefined;
  }
  const { partialArgs, willContinue, ...call } = part.functionCall;
  const begins = open === undefined || call.name !== undefined;
  const target: Open = begins ? { ...part, functionCall: call } : open!;
  if (begins) parts.push(target);
  else target.functionCall = { ...objectOf(target.functionCall), ...call };
  for (const piece of objectsOf(partialArgs)) setArgument(target, piece);
  return willContinue === true ? target : undefined;
}

/** Sets a piece at its path: `$.recipe.steps[0]`. */
function setArgument(part: Open, piece: JsonObject): void {
  const call: Open = { ...objectOf(part.functionCall) };
  const steps = [...textOf(piece.jsonPath).matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g)].map(
    ([, name, index, quoted]) => (index === undefined ? (name ?? quoted ?? '') : Number(index)),
  );
  const value = piece.stringValue ?? piece.numberValue ?? piece.boolValue ?? null;
  call.args = placed(call.args, steps, value);
  part.functionCall = call;
}

function placed(tree: Json | undefined, [step, ...more]: readonly (string | number)[], value: Json): Json {
  if (step === undefined) return typeof tree === 'string' && typeof value === 'string' ? tree + value : value;
  if (typeof step === 'number') {
    const list = [...listOf(tree)];
    list[step] = placed(list[step], more, value);
    return list;
  }
  return { ...objectOf(tree), [step]: placed(objectOf(tree)[step], more, value) };
}

/** A call without arguments has empty ones. */
function tidied(part: Open): JsonObject {
  if (!isObject(part.functionCall) || part.functionCall.args !== undefined) return part;
  return { ...part, functionCall: { ...part.functionCall, args: {} } };
}
