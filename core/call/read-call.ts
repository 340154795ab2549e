/** From the bytes of a call to what is known of it: its options, the sizes of its files, what it refers to. */
import { type Base64Ranges, findBase64, LARGE, noBase64 } from '../bytes/base64-ranges.ts';
import { scanJson } from '../bytes/json-body.ts';
import type { BodyLimits } from '../config/core-sections.ts';
import { invalidField } from '../contracts/errors.ts';
import type { Call, Upload } from '../contracts/formats/call.ts';
import type { JsonBody } from '../contracts/formats/json.ts';
import type { CallFacts, Recalled, Style } from '../contracts/formats/style.ts';
import type { Awaitable, Known } from '../plugin.ts';
import { checkPlaces } from '../translation/quirks/ruled-fields.ts';
import type { LiveExchange } from './live-exchange.ts';

/** Decodes a call: the options of its body, and what it refers to. Synchronous if there are no references. */
export function readCall(
  x: LiveExchange & Known,
  bytes: Buffer,
  limits: BodyLimits,
  files?: readonly Upload[],
): Awaitable<void> {
  if (bytes.length < LARGE) return understand(x, bytes, noBase64(bytes), limits, files);
  return findBase64(bytes).then((base64) => understand(x, bytes, base64, limits, files));
}

function understand(
  x: LiveExchange & Known,
  bytes: Buffer,
  base64: Base64Ranges,
  limits: BodyLimits,
  files: readonly Upload[] | undefined,
): Awaitable<void> {
  const style = x.style!;
  const { depth } = limits;
  const { maxValues, measure } = style.ingress!;
  const body = scanJson(bytes, maxValues === undefined ? { depth } : { depth, tokens: maxValues }, base64);
  checkPlaces(body);
  const operation = style.ingress!.operations?.find((below) => x.path === style.ingress!.path + below);
  x.call = callOf(style, operation, body, style.ingress!.read(body, x, files), files);
  if (operation !== undefined && x.call.stream)
    throw invalidField('stream', `must be false: ${x.path} is not streamed`);
  if (files !== undefined && measure !== undefined) return measureCall(x, style);
  const recalling = style.ingress!.recall?.(x, body);
  if (recalling instanceof Promise) return recalling.then((recalled) => recall(x, style, recalled));
  recall(x, style, recalling);
}

/** A literal with several spreads would be a dictionary, and each later reading of a member a search. */
function callOf(
  { name }: Style,
  operation: string | undefined,
  body: JsonBody,
  facts: CallFacts,
  files?: readonly Upload[],
  earlier?: Call['earlier'],
): Call {
  const call: { -readonly [member in keyof Call]: Call[member] } = Object.assign({ style: name, body }, facts);
  if (operation !== undefined) call.operation = operation;
  if (files !== undefined) call.files = files;
  if (earlier !== undefined) call.earlier = earlier;
  return call;
}

async function measureCall(x: LiveExchange, style: Style): Promise<void> {
  x.call = { ...x.call, bounds: await style.ingress!.measure!(x.call) };
}

/** Replaces the body by one with its references resolved, so that it is counted and can be sent to any channel. */
function recall(x: LiveExchange, style: Style, recalled: Recalled | undefined): void {
  if (recalled === undefined) return;
  const { body, channel } = recalled;
  const earlier = { channel, body: x.call.body };
  x.call = callOf(style, x.call.operation, body, style.ingress!.read(body, x), undefined, earlier);
}
