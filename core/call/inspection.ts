/** The content of a call as plugins see it: decoded on demand and once, and replaced if a plugin requests it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { scanAnswer, scanJson, UNLIMITED } from '../bytes/json-body.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Content, Inspection } from '../contracts/formats/content.ts';
import type { Block, Conversation } from '../contracts/formats/conversation.ts';
import type { Json, JsonBody, JsonObject } from '../contracts/formats/json.ts';
import type { Style } from '../contracts/formats/style.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { slot } from '../contracts/slot.ts';
import type { Awaitable, Known } from '../plugin.ts';
import { LARGE_INSPECTION, LARGE_TEXT } from '../text-search/search.ts';
import {
  changedMembers,
  eachText,
  isTokens,
  mapConversation,
  type TextMap,
  textsIn,
} from '../translation/conversation/texts.ts';
import { type CollectedWarnings, collectWarnings } from '../translation/warnings/warnings.ts';
import type { LiveExchange } from './live-exchange.ts';
import type { Inspector, Pipeline } from './phases.ts';

/** The content for plugins, once one has requested it. */
const contents = slot<CallContent>('core.content');

/** Screens a call, then inspects its content. Synchronous unless a plugin returns a promise, or the content is large. */
export function screenAndInspect(x: LiveExchange & Known, pipeline: Pipeline): Awaitable<void> {
  const screening = pipeline.screen(x, { purpose: 'call', isInspected: pipeline.inspects });
  if (screening instanceof Promise) return screening.then(() => inspectInTurn(x, pipeline, 'call'));
  return inspectInTurn(x, pipeline, 'call');
}

/** One large content at a time per account: what inspecting costs grows with it. */
export function inspectInTurn(
  x: LiveExchange & Known,
  pipeline: Pipeline,
  purpose: Content['purpose'],
): Awaitable<void> {
  if (!pipeline.inspects || x.call.body.bytes.length < LARGE_INSPECTION) return inspectCall(x, pipeline, purpose);
  return pipeline.turns.take(x.identity.account.id, async () => {
    if (x.stoppedBy !== undefined) throw x.stoppedBy;
    await inspectCall(x, pipeline, purpose);
  });
}

/** Runs the `inspect` phase and applies its results. Synchronous unless a plugin returns a promise. */
function inspectCall(x: LiveExchange & Known, pipeline: Pipeline, purpose: Content['purpose']): Awaitable<void> {
  if (!pipeline.inspects) return;
  const content = new CallContent(x, purpose);
  contents.set(x, content);
  return pipeline.inspect(x, content, (inspection, by) => content.take(inspection, by));
}

/** The content of a call, also if only needed to know whether its answer can be revised. */
export function contentOf(x: LiveExchange): CallContent {
  const known = contents.get(x);
  if (known !== undefined) return known;
  const content = new CallContent(x, 'call');
  contents.set(x, content);
  return content;
}

/** Members of the request that could not be decoded; undefined if no plugin has requested its content. */
export function undecoded(x: LiveExchange): CollectedWarnings | undefined {
  return contents.get(x)?.warnings;
}

/** The client style's names of request fields. */
export function fieldNames({ client: clientSide }: Style, body: JsonBody): Readonly<Record<string, string>> {
  const names = clientSide?.names ?? {};
  return clientSide?.namesIn === undefined ? names : { ...names, ...clientSide.namesIn(body) };
}

/** One per call that a plugin inspects. */
export class CallContent implements Content {
  readonly purpose: Content['purpose'];
  readonly #x: LiveExchange;
  /** Members that could not be decoded, for the warnings if the conversation is replaced. */
  warnings: CollectedWarnings | undefined;
  #decoded: Conversation | undefined;

  constructor(x: LiveExchange, purpose: Content['purpose']) {
    this.#x = x;
    this.purpose = purpose;
  }

  conversation(): Awaitable<Conversation | undefined> {
    const { call } = this.#x;
    const { client: clientSide, ingress } = this.#x.style!;
    if (clientSide === undefined || ingress?.texts !== undefined) return undefined;
    const known = call.conversation ?? this.#decoded;
    if (known !== undefined) return known;
    const unfolding = call.body.unfold();
    return unfolding === undefined ? this.#decode() : unfolding.then(() => this.#decode());
  }

  #decode(): Conversation {
    const { style, call } = this.#x;
    this.warnings ??= collectWarnings(fieldNames(style!, call.body), true);
    this.#decoded ??= style!.client!.decodeRequest(call.body.outline().tree as JsonObject, this.warnings);
    return this.#decoded;
  }

  texts(): readonly string[] {
    const members = this.#members();
    for (const [name, value] of Object.entries(members)) if (isTokens(value)) refuseTokens(name);
    return [...textsIn(Object.values(members)), ...this.#fileNames()];
  }

  /** The names of files, which vendors get, too. */
  #fileNames(): readonly string[] {
    return (this.#x.call.files ?? []).map(({ fileName }) => fileName);
  }

  /** The body members that contain texts. */
  #members(): Readonly<Record<string, Json | undefined>> {
    const { style, call } = this.#x;
    return Object.fromEntries((style!.ingress?.texts ?? []).map((name) => [name, call.body.get(name)]));
  }

  mapTexts(map: Parameters<Content['mapTexts']>[0]): Awaitable<Inspection | undefined> {
    const conversation = this.conversation();
    const mayWait = this.#x.call.body.bytes.length >= LARGE_TEXT;
    if (conversation instanceof Promise || mayWait) return this.#mapInTurns(conversation, map);
    return this.#map(conversation, (text) => {
      const mapped = map(text, false);
      if (typeof mapped !== 'string') throw new Error('a text this short must be mapped at once');
      return mapped;
    });
  }

  /** The same for a body of some size, yielding to other requests in between. */
  async #mapInTurns(
    decoding: Awaitable<Conversation | undefined>,
    map: Parameters<Content['mapTexts']>[0],
  ): Promise<Inspection | undefined> {
    const conversation = await decoding;
    const isLarge = this.#x.call.body.bytes.length >= LARGE_INSPECTION;
    const texts: string[] = [];
    this.#map(conversation, (text) => {
      texts.push(text);
      return text;
    });
    const mapped = new Map<string, string>();
    let length = 0;
    for (const text of texts) {
      if (mapped.has(text)) continue;
      const mapping = map(text, isLarge || text.length >= LARGE_TEXT);
      mapped.set(text, typeof mapping === 'string' ? mapping : await mapping);
      length += text.length;
      if (length < LARGE_TEXT) continue;
      length = 0;
      await nextTurn();
    }
    return this.#map(conversation, (text) => mapped.get(text) ?? text);
  }

  #map(conversation: Conversation | undefined, map: TextMap): Inspection | undefined {
    if (conversation !== undefined) {
      const mapped = mapConversation(conversation, map);
      // Encoded again, the request has no members that the conversation lacks.
      return mapped === conversation && !this.#hidesText(map) ? undefined : { conversation: { ...mapped } };
    }
    const texts = this.texts();
    const mapped = texts.map(map);
    return mapped.every((text, i) => text === texts[i]) ? undefined : { texts: mapped };
  }

  /** Whether members of the request that the conversation lacks, which a vendor would get as they are, have a text that is changed. */
  #hidesText(map: TextMap): boolean {
    const { call } = this.#x;
    if (this.omitted().length === 0 || call.conversation !== undefined) return false;
    let hides = false;
    eachText(call.body.outline().tree, (text) => {
      if (map(text) !== text) hides = true;
    });
    return hides;
  }

  refusal(): GatewayError | undefined {
    return this.warnings?.barred;
  }

  omitted(): readonly string[] {
    return this.warnings?.all ?? [];
  }

  /** Applies a plugin's result; true if it gives the answer itself. */
  take(inspection: Inspection, by: Inspector): Awaitable<boolean> {
    if ('texts' in inspection) {
      const replacing = this.#replaceTexts(inspection.texts);
      return replacing instanceof Promise ? replacing.then(() => false) : false;
    }
    const conversation = this.conversation();
    if (conversation instanceof Promise) return conversation.then((decoded) => this.#takeOver(decoded, inspection, by));
    return this.#takeOver(conversation, inspection, by);
  }

  #takeOver(
    before: Conversation | undefined,
    inspection: Exclude<Inspection, { readonly texts: readonly string[] }>,
    by: Inspector,
  ): boolean {
    if (before === undefined) throw new Error('the content of this call is not a conversation');
    const barred = this.refusal();
    if (barred !== undefined) throw barred;
    if ('conversation' in inspection) {
      this.#replace(before, inspection.conversation);
      return false;
    }
    if (before.choices !== undefined) throw oneAnswer('a plugin of this gateway answers this request.');
    if (this.purpose !== 'count') this.#x.given = { answer: inspection, ...by };
    return true;
  }

  /** Price-relevant fields other than the size stay the client's: service tier, number of answers, and tools that the vendor runs. */
  #replace(before: Conversation, replaced: Conversation): void {
    const x = this.#x;
    const hosted = hostedTools(before);
    const added = hostedTools(replaced).find((name) => !hosted.includes(name));
    if (added !== undefined) throw new Error(`a conversation must not be given the vendor's tool ${added}`);
    const { serviceTier: _, ...labels } = replaced.labels;
    const { serviceTier } = before.labels;
    const { choices: __, ...rest } = replaced;
    const conversation: Conversation = {
      ...rest,
      labels: { ...labels, ...(serviceTier !== undefined && { serviceTier }) },
      ...(before.choices !== undefined && { choices: before.choices }),
    };
    const { bounds, earlier } = x.call;
    const { maxTokens } = conversation;
    const outputTokens = maxTokens === before.maxTokens ? bounds.outputTokens : maxTokens && maxTokens * bounds.choices;
    x.call = {
      ...x.call,
      conversation,
      bounds: {
        ...bounds,
        inputBytes: textBytes(conversation),
        media: mediaIn(conversation.turns.flatMap(({ blocks }) => blocks)),
        outputTokens,
      },
      // The channel that stored the earlier answer has the original text.
      ...(earlier !== undefined && { earlier: { ...earlier, channel: undefined } }),
    };
  }

  #replaceTexts(texts: readonly string[]): Awaitable<void> {
    const x = this.#x;
    const style = x.style!;
    const { body: before } = x.call;
    const members = this.#members();
    const ofBody = textsIn(Object.values(members)).length;
    if (texts.length !== ofBody + this.#fileNames().length) throw new Error('the number of texts must not change');
    const files = x.call.files?.map((file, i) => ({ ...file, fileName: texts[ofBody + i]! }));
    const changes = Object.entries(changedMembers(members, texts));
    const bytes = before.patched(Object.fromEntries(changes.map(([name, value]) => [name, JSON.stringify(value)])));
    // It was within the limits when it arrived.
    const body = scanJson(bytes, UNLIMITED);
    x.call = { style: style.name, body, ...style.ingress!.read(body, x, files), ...(files && { files }) };
    if (files === undefined || style.ingress?.measure === undefined) return;
    return Promise.resolve(style.ingress?.measure(x.call)).then((bounds) => {
      x.call = { ...x.call, bounds };
    });
  }
}

function refuseTokens(name: string): never {
  throw coreErrors
    .unsupported_parameter(
      `\`${name}\` must be text: this gateway inspects what is sent to vendors, and cannot read token ids.`,
    )
    .with({ param: name });
}

function hostedTools({ tools }: Conversation): readonly string[] {
  return tools.flatMap((tool) => (tool.type === 'hosted' ? [tool.name] : []));
}

/** The value of `Bounds.inputBytes` for a body, or for a conversation as JSON. */
function textBytes(conversation: Conversation): number {
  const bytes = Buffer.from(JSON.stringify(conversation));
  return scanAnswer(bytes)?.textBytes ?? bytes.length;
}

function mediaIn(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => {
    if (block.type === 'toolResult') return sum + mediaIn(block.content);
    const isText = block.type === 'file' && block.source.kind === 'text';
    return sum + Number(!isText && (block.type === 'image' || block.type === 'audio' || block.type === 'file'));
  }, 0);
}

/** The refusal of a request for several answers (`n`), where there is one. `why`: a sentence, or its end. */
export function oneAnswer(why: string): GatewayError {
  return coreErrors
    .unsupported_parameter(`Only one answer can be requested: ${why} Omit \`n\`, and send one prompt per request.`)
    .with({ param: 'n' });
}
