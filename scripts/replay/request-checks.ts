/**
 * Sends one recorded request to a vendor of another style: it must arrive completely, or the rest be reported, or it
 * must be refused with a clear error.
 */
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { type Crossing, excusedInRequest } from './allowances.ts';
import { errorOf } from './asks.ts';
import type { ClientStyle } from './client.ts';
import type { Recorded, VendorStyle } from './folder.ts';
import { brief, parsed } from './json.ts';
import { createFound, lostLeaves } from './leaves.ts';
import { callable, shapeFaults, toolChoice } from './shapes.ts';
import { PLAIN_TEXT, plainScript } from './vendor-scripts.ts';
import type { Finding } from './verdicts.ts';
import type { Upstream, World } from './world.ts';

/** Sends it. Requires exclusive use of the upstream. */
export async function checkRequest(world: World, recorded: Recorded, to: Upstream): Promise<readonly Finding[]> {
  const client = recorded.style as ClientStyle;
  const request: JsonObject = { ...elsewhere(recorded.request ?? {}), model: to.name };
  const finding = (result: Finding['result'], detail: string): Finding => ({
    what: `${recorded.file}:${recorded.id}`,
    client,
    vendor: to.style,
    check: 'requests',
    result,
    detail,
  });
  world.answers(to.name, plainScript(to.style, request.stream === true));
  let got: Awaited<ReturnType<World['client']['ask']>>;
  try {
    got = await world.client.ask(client, request);
  } catch (error) {
    return [finding('failed', error instanceof Error ? error.message : String(error))];
  }
  if (got.status !== 200) {
    const error = errorOf(parsed(got.text));
    const outcome = `${got.status} ${error?.param ?? ''}: ${brief(error?.message ?? got.text, 120)}`;
    // An unknown-model error is wrong for a model that exists.
    const isClear =
      got.status >= 400 && got.status < 500 && error !== undefined && !['', 'model'].includes(error.param);
    return [finding(isClear ? 'refused' : 'failed', isClear ? outcome : `refused without a field: ${outcome}`)];
  }
  const sent = world.asked(to.name);
  if (sent === undefined) return [finding('failed', 'the vendor received no request')];
  const faults = requestFaults(
    { client, vendor: to.style, request, sent: sent.body, warnings: got.warnings },
    sent.path,
  );
  if (!got.whole) faults.push('the answer breaks off');
  if (!got.text.includes(PLAIN_TEXT)) faults.push('the answer does not arrive');
  return faults.length === 0
    ? [finding('ok', got.warnings.join(', '))]
    : faults.map((fault) => finding('failed', fault));
}

/** With unreachable URLs: if the gateway has to fetch something, the result must not depend on the network. */
function elsewhere(request: JsonObject): JsonObject {
  const text = JSON.stringify(request, (name, value: Json) =>
    typeof value === 'string' && /(^|_)ur[il]$/.test(name)
      ? value.replace(/^https?:\/\/[^/]+/, 'https://media.invalid')
      : value,
  );
  return JSON.parse(text) as JsonObject;
}

/** The end of each style's path. */
const PATHS: Readonly<Record<VendorStyle, RegExp>> = {
  chat: /\/chat\/completions$/,
  responses: /\/responses$/,
  messages: /\/messages$/,
  gemini: /\/models\/[^/]+:(generateContent|streamGenerateContent\?alt=sse)$/,
};

function requestFaults(crossing: Crossing, path: string): string[] {
  const { client, vendor, request, sent, warnings } = crossing;
  const faults: string[] = [];
  if (!PATHS[vendor].test(path)) faults.push(`sent to ${path}`);
  faults.push(...shapeFaults(vendor, sent).map((fault) => `body: ${fault.replace(/\[\d+\]/, '[]')}`));
  const [requested, chosen] = [toolChoice(client, request), toolChoice(vendor, sent)];
  // Without tools there is no choice.
  const chooses = sent.tools !== undefined && !warnings.some((warning) => warning.startsWith('tool_choice'));
  if (chooses && requested !== chosen) faults.push(`tool choice ${requested} became ${chosen}`);
  const [callableTools, offered] = [callable(client, request), callable(vendor, sent)];
  // Names may differ, but not their number.
  if (
    chooses &&
    callableTools.length < callable(client, { ...request, tool_choice: null }).length &&
    offered.length > callableTools.length
  ) {
    faults.push(`of the tools ${callableTools.join(' ')} became ${offered.join(' ')}`);
  }
  if (typeof request.stream === 'boolean' && vendor !== 'gemini' && (sent.stream === true) !== request.stream) {
    faults.push(`stream ${request.stream} became ${String(sent.stream)}`);
  }
  const lost = lostLeaves(request, createFound(sent), warnings, excusedInRequest(crossing));
  const places = new Map(lost.map((leaf) => [leaf.path.replaceAll(/\[\d+\]/g, '[]'), leaf]));
  for (const [place, { value, types }] of places) {
    faults.push(`lost: ${place} of ${types.at(-1) ?? 'it'}: ${brief(value, 40)} [${warnings.join(', ')}]`);
  }
  return faults;
}
