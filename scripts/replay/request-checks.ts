/** Sends one recorded request to a vendor of another kind: it arrives whole, or what is missing is named, or it is refused clearly. */
import type { Json, JsonObject } from '../../core/contracts/json.ts';
import { type Crossing, excusedInRequest } from './allowances.ts';
import { errorOf } from './asks.ts';
import type { ClientStyle } from './client.ts';
import type { Recorded, VendorStyle } from './folder.ts';
import { brief, parsed } from './json.ts';
import { createFound, lostLeaves } from './leaves.ts';
import { callable, shapeFaults, toolChoice } from './shapes.ts';
import { PLAIN_TEXT, plainScript } from './vendor-scripts.ts';
import type { Verdict } from './verdicts.ts';
import type { Upstream, World } from './world.ts';

/** Sends it. Nobody else may use the upstream meanwhile. */
export async function checkRequest(world: World, recorded: Recorded, to: Upstream): Promise<readonly Verdict[]> {
  const client = recorded.style as ClientStyle;
  const asked: JsonObject = { ...elsewhere(recorded.request ?? {}), model: to.name };
  const verdict = (result: Verdict['result'], detail: string): Verdict => ({
    what: `${recorded.file}:${recorded.id}`,
    client,
    vendor: to.style,
    check: 'requests',
    result,
    detail,
  });
  world.answers(to.name, plainScript(to.style, asked.stream === true));
  let got: Awaited<ReturnType<World['client']['ask']>>;
  try {
    got = await world.client.ask(client, asked);
  } catch (error) {
    return [verdict('failed', error instanceof Error ? error.message : String(error))];
  }
  if (got.status !== 200) {
    const error = errorOf(parsed(got.text));
    const told = `${got.status} ${error?.param ?? ''}: ${brief(error?.message ?? got.text, 120)}`;
    // That there is no such model is no answer to a model that there is.
    const isClear =
      got.status >= 400 && got.status < 500 && error !== undefined && !['', 'model'].includes(error.param);
    return [verdict(isClear ? 'refused' : 'failed', isClear ? told : `refused without a field: ${told}`)];
  }
  const sent = world.asked(to.name);
  if (sent === undefined) return [verdict('failed', 'nothing came to the vendor')];
  const faults = requestFaults({ client, vendor: to.style, asked, sent: sent.body, losses: got.losses }, sent.path);
  if (!got.whole) faults.push('the answer breaks off');
  if (!got.text.includes(PLAIN_TEXT)) faults.push('the answer does not arrive');
  return faults.length === 0 ? [verdict('ok', got.losses.join(', '))] : faults.map((fault) => verdict('failed', fault));
}

/** With addresses that lead nowhere: where the gateway has to fetch something, the answer must not depend on the network. */
function elsewhere(request: JsonObject): JsonObject {
  const text = JSON.stringify(request, (name, value: Json) =>
    typeof value === 'string' && /(^|_)ur[il]$/.test(name)
      ? value.replace(/^https?:\/\/[^/]+/, 'https://media.invalid')
      : value,
  );
  return JSON.parse(text) as JsonObject;
}

/** The end of the path under which each style is asked. */
const PATHS: Readonly<Record<VendorStyle, RegExp>> = {
  chat: /\/chat\/completions$/,
  responses: /\/responses$/,
  messages: /\/messages$/,
  gemini: /\/models\/[^/]+:(generateContent|streamGenerateContent\?alt=sse)$/,
};

function requestFaults(crossing: Crossing, path: string): string[] {
  const { client, vendor, asked, sent, losses } = crossing;
  const faults: string[] = [];
  if (!PATHS[vendor].test(path)) faults.push(`sent to ${path}`);
  faults.push(...shapeFaults(vendor, sent).map((fault) => `body: ${fault.replace(/\[\d+\]/, '[]')}`));
  const [wanted, chosen] = [toolChoice(client, asked), toolChoice(vendor, sent)];
  // Without tools there is nothing to choose.
  const chooses = sent.tools !== undefined && !losses.some((loss) => loss.startsWith('tool_choice'));
  if (chooses && wanted !== chosen) faults.push(`tool choice ${wanted} became ${chosen}`);
  const [meant, offered] = [callable(client, asked), callable(vendor, sent)];
  // Names may be others there, but not more of them.
  if (
    chooses &&
    meant.length < callable(client, { ...asked, tool_choice: null }).length &&
    offered.length > meant.length
  ) {
    faults.push(`of the tools ${meant.join(' ')} became ${offered.join(' ')}`);
  }
  if (typeof asked.stream === 'boolean' && vendor !== 'gemini' && (sent.stream === true) !== asked.stream) {
    faults.push(`stream ${asked.stream} became ${String(sent.stream)}`);
  }
  const lost = lostLeaves(asked, createFound(sent), losses, excusedInRequest(crossing));
  const places = new Map(lost.map((leaf) => [leaf.path.replaceAll(/\[\d+\]/g, '[]'), leaf]));
  for (const [place, { value, types }] of places) {
    faults.push(`lost: ${place} of ${types.at(-1) ?? 'it'}: ${brief(value, 40)} [${losses.join(', ')}]`);
  }
  return faults;
}
