/** Explains a call without making it: the caller, the decisions of plugins, the targets, the warnings. */

import { Readable } from 'node:stream';
import { multipartStream } from '../../bytes/body-stream.ts';
import { isEmpty } from '../../bytes/fields.ts';
import { scanAnswer, scanJson } from '../../bytes/json-body.ts';
import { inspectInTurn } from '../../call/inspection.ts';
import type { LiveExchange } from '../../call/live-exchange.ts';
import type { Player } from '../../call/phases.ts';
import { readCall } from '../../call/read-call.ts';
import { coreErrors } from '../../contracts/errors.ts';
import type { Decision, ExplainedOffer, Explaining, KnownBounds, Named, Refusal } from '../../contracts/explaining.ts';
import type { Call, Offer, Upload } from '../../contracts/formats/call.ts';
import { keyNameOf } from '../../contracts/formats/channel.ts';
import type { Block } from '../../contracts/formats/conversation.ts';
import type { Json, JsonBody, JsonObject } from '../../contracts/formats/json.ts';
import type { FormReader, Style } from '../../contracts/formats/style.ts';
import type { GatewayError } from '../../contracts/gateway-error.ts';
import type { Holder } from '../../contracts/identity.ts';
import { convey } from '../../delivery/attempt-codec.ts';
import { partiesOf, pathOf } from '../../delivery/deliver.ts';
import type { Parties } from '../../delivery/parties.ts';
import { errorIn, toGatewayError } from '../../http/responses.ts';
import { tooLarge } from '../../incoming/read-body.ts';
import { createSpool } from '../../incoming/upload-spool.ts';
import type { Awaitable, Known, Offering } from '../../plugin.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Generation } from '../../server/generation.ts';
import { collectWarnings } from '../../translation/warnings/warnings.ts';
import { supposedExchange } from './simulated-request.ts';

/** A hypothetical call. */
export interface Supposed {
  /** Headers and query in addition to those its style needs: an API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** The caller; without it, `authenticate` decides. */
  readonly holder?: () => Awaitable<Holder>;
  readonly ip?: string;
  readonly style: Style;
  /** JSON; the fields of a multipart body if there are `files`, or if the style accepts nothing else. */
  readonly body: Buffer;
  readonly files: readonly SupposedFile[];
}
/** An uploaded file. */
export interface SupposedFile {
  readonly field: string;
  readonly fileName: string;
  readonly bytes: Buffer;
}

/** The dependencies on the gateway. */
export interface ExplainTools {
  readonly generation: Generation;
  /** In pipeline order. */
  readonly players: readonly Player[];
  readonly clock: Clock;
}

/** Has every plugin explain how it would handle a call. Nothing is taken, reserved or written, no vendor is called. */
export async function explainCall(supposed: Supposed, tools: ExplainTools): Promise<Decision> {
  const { style, headers, ip = '' } = supposed;
  const x = supposedExchange(style, { path: style.ingress!.path, headers, ip }, tools.clock);
  try {
    return await decide(x, supposed, tools);
  } finally {
    await x.release(() => {});
  }
}

/** The service; uses the generation that is current at each call. */
export function createExplaining(tools: () => ExplainTools): Explaining {
  return {
    async explain({ holder, style: name, body, ip }) {
      const now = tools();
      const style = now.generation.deliver.styles.get(name);
      if (style?.ingress === undefined) {
        throw coreErrors.invalid_request_error(`style: must be one of ${stylesOf(now)}.`).with({ param: 'style' });
      }
      return explainCall({ headers: {}, holder, style, body, files: [], ...(ip !== undefined && { ip }) }, now);
    },
  };
}

/** `chat, messages, responses` */
function stylesOf({ generation }: ExplainTools): string {
  const styles = [...generation.deliver.styles.values()].filter(({ ingress }) => ingress !== undefined);
  return styles.map(({ name }) => name).join(', ');
}

async function decide(x: LiveExchange, supposed: Supposed, tools: ExplainTools): Promise<Decision> {
  const { style, body } = supposed;
  const { pipeline, limits, deliver } = tools.generation;
  const known = x as LiveExchange & Known;
  let refused = await refusalOf(async () => {
    x.identity = await (supposed.holder === undefined ? pipeline.authenticate(x) : supposed.holder());
    if (body.length > limits.jsonBytes) throw tooLarge(limits.jsonBytes);
    const form = style.ingress?.form;
    if (form === undefined || (supposed.files.length === 0 && !form.only)) {
      await readCall(known, body, limits);
    } else {
      const { fields, files } = await readForm(known, form, supposed, tools.generation);
      await readCall(known, Buffer.from(JSON.stringify(fields)), limits, files);
    }
  });
  const isRead = refused === undefined;
  refused ??= await refusalOf(async () => inspectInTurn(known, pipeline, 'explain'));

  const plugins: Decision['plugins'][number][] = [];
  let offerings: readonly Offering[] = [];
  for (const player of isRead ? tools.players : []) {
    if (player.name === x.given?.plugin) plugins.push({ plugin: player.name, says: ['answers in place of a vendor'] });
    const statements = await ask(player, known);
    if (statements === undefined) continue;
    const { says, facts, offers, refusal } = statements;
    plugins.push({
      plugin: player.name,
      says,
      ...(!isEmpty(facts) && { facts }),
      ...(refusal !== undefined && { refusal: refusalFrom(refusal) }),
    });
    refused ??= refusal;
    // As in the phase `route`, the first answer wins.
    if (offerings.length === 0) offerings = offers;
  }

  const orderRefusal = await refusalOf(async () => {
    if (offerings.length === 0) return;
    const byOffer = new Map(offerings.map((offering) => [offering.offer, offering]));
    offerings = pipeline.order(known, [...byOffer.keys()]).map((offer) => byOffer.get(offer)!);
  });
  refused ??= orderRefusal;
  const offers: ExplainedOffer[] = [];
  let last: GatewayError | undefined;
  let tries = 0;
  let served = x.given !== undefined;
  for (const offering of offerings) {
    const asked = offering.asked && tries < deliver.maxAttempts && x.given === undefined;
    const { parties } = partiesOf(known, offering.offer, deliver);
    const { error, ...facts } = await explainOffer(parties);
    offers.push({ ...facts, state: offering.state, asked });
    if (!asked) continue;
    tries++;
    last = error;
    served ||= error === undefined;
  }
  if (!served) refused ??= last;

  return {
    who: x.identity && { key: named(x.identity.key), account: named(x.identity.account) },
    call: isRead ? { style: style.name, model: x.call.model, stream: x.call.stream, ...boundsOf(x.call) } : undefined,
    plugins,
    offers,
    refusal: refused && { ...refusalFrom(refused), body: errorIn(style, refused, x.id) },
  };
}

/** The bounds with their lazily computed parts. */
function boundsOf({ bounds }: Call): KnownBounds {
  return { ...bounds, open: bounds.open?.(), uses: bounds.uses?.() };
}

/** The multipart body that a client would send, parsed as if received. */
function readForm(
  x: Known,
  form: FormReader,
  { body, files }: Supposed,
  { limits, spoolDirectory }: Generation,
): ReturnType<FormReader['read']> {
  const uploads = files.map(
    ({ bytes, ...about }): Upload => ({
      ...about,
      mediaType: 'application/octet-stream',
      size: bytes.length,
      async *read() {
        yield bytes;
      },
    }),
  );
  const { contentType, length, read } = multipartStream(scanJson(body, limits).tree() as JsonObject, uploads);
  if (length > limits.uploadBytes) throw tooLarge(limits.uploadBytes);
  const spool = createSpool({ directory: spoolDirectory, maxBytes: limits.uploadBytes });
  x.defer(() => spool.discard());
  return form.read({ body: Readable.from(read()), contentType, spool });
}

interface Statements {
  readonly says: readonly string[];
  readonly facts: JsonObject;
  readonly offers: readonly Offering[];
  readonly refusal: GatewayError | undefined;
}

/** A plugin's explanation; undefined if it does not take part in calls. */
async function ask({ parts }: Player, x: Known): Promise<Statements | undefined> {
  if (parts.explain === undefined) {
    const { enter, screen, inspect, admit, route, revise } = parts;
    if ([enter, screen, inspect, admit, route, revise].every((phase) => phase === undefined)) return undefined;
    return { says: ['takes part, but does not explain how'], facts: {}, offers: [], refusal: undefined };
  }
  const says: string[] = [];
  const facts: Record<string, Json> = {};
  const offers: Offering[] = [];
  const refusal = await refusalOf(async () => {
    for await (const statement of parts.explain!(x)) {
      if (typeof statement === 'string') says.push(statement);
      else if ('facts' in statement) Object.assign(facts, statement.facts);
      else offers.push(statement);
    }
  });
  return { says, facts, offers, refusal };
}

async function explainOffer(
  parties: Parties,
): Promise<Omit<ExplainedOffer, 'state' | 'asked'> & { readonly error: GatewayError | undefined }> {
  const { x, offer, clientStyle, vendorStyle } = parties;
  let difference: Pick<ExplainedOffer, 'changed' | 'written'> = {};
  let lost: readonly string[] = [];
  let fetched: readonly string[] = [];
  const error = await refusalOf(async () => {
    const named = new Set<string>();
    const fetch = async (url: string) => {
      named.add(url);
      return NO_PICTURE;
    };
    const { body, warnings } = await convey({ ...parties, offer: withoutFetching(offer), fetch });
    lost = warnings?.() ?? [];
    fetched = clientStyle === vendorStyle ? [...named] : addressesIn(parties);
    if (!Buffer.isBuffer(body)) difference = { written: body.contentType.split(';')[0]! };
    else if (clientStyle === vendorStyle)
      difference = { changed: changesOf(x.call.earlier?.body ?? x.call.body, body) };
  });
  return {
    channel: keyNameOf(offer.channel),
    model: offer.model,
    priced: offer.priced,
    style: offer.style,
    path: pathOf(parties),
    ...difference,
    warnings: lost,
    fetched,
    ...(error !== undefined && { refusal: refusalFrom(error) }),
    error,
  };
}

/** A placeholder for a file that a real call would fetch. */
const NO_PICTURE = { mediaType: 'image/png', bytes: Buffer.from('89504e470d0a1a0a', 'hex') };

/** The same target, as if its vendor could read any URL itself. */
function withoutFetching(offer: Offer): Offer {
  const { quirks } = offer;
  return { ...offer, quirks: { ...quirks, file: { ...quirks.file, native_urls: [''] } } };
}

/** The URLs that the vendor would not read itself. */
function addressesIn({ x, clientStyle, offer: { quirks } }: Parties): readonly string[] {
  const found = new Set<string>();
  const look = (block: Block): void => {
    if (block.type === 'toolResult') for (const inner of block.content) look(inner);
    if (block.type !== 'image' && block.type !== 'file') return;
    const { source } = block;
    if (source.kind !== 'url' || quirks[block.type].url !== 'fetch') return;
    if (!quirks.file.native_urls.some((start) => source.url.startsWith(start))) found.add(source.url);
  };
  const { turns } = clientStyle.client!.decodeRequest(x.call.body.tree() as JsonObject, collectWarnings({}));
  for (const { blocks } of turns) for (const block of blocks) look(block);
  return [...found];
}

/** The top-level members that differ from the client's. */
function changesOf(original: JsonBody, sent: Buffer): readonly string[] {
  const body = scanAnswer(sent);
  if (body === undefined) return [];
  const text = (of: JsonBody, name: string): string | undefined => JSON.stringify(of.get(name));
  return [...new Set([...original.members.keys(), ...body.members.keys()])].filter(
    (name) => text(original, name) !== text(body, name),
  );
}

/** The refusal thrown by the work; undefined if it succeeds. Other errors are thrown. */
async function refusalOf(work: () => Promise<void>): Promise<GatewayError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const refusal = toGatewayError(error);
    if (refusal !== error && refusal.status === 500) throw error;
    return refusal;
  }
}

function refusalFrom({ status, code, message }: GatewayError): Refusal {
  return { status, code, message };
}

function named({ id, name }: Named): Named {
  return { id, name };
}
