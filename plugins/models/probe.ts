/** Tests a channel with a small call: does it respond, accept our key, and have the model? */
import type { Catalog, Probe } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Attachments, Call, Host, JsonObject, Offer, Question, Style, Warnings } from '../../core/plugin.ts';
import { retell, scanJson } from '../../core/translation/index.ts';
import type { ModelCatalog, ServedModel } from './catalog.ts';
import type { Channels, Configured } from './channels.ts';
import { didYouMean } from './entries.ts';
import { errors } from './errors.ts';
import type { Source } from './source.ts';

/** The styles of test calls, and their bodies. The output limit is low, but sufficient for reasoning models. */
const QUESTIONS: Readonly<Record<string, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'Say: ok' }], max_tokens: 16 },
  embeddings: { input: 'ok' },
};

/** Our explanation of a vendor's error. Its own text may contain its address or our key. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The vendor refused the test call as invalid.',
  401: 'The vendor does not accept the key.',
  402: 'The account at the vendor has no credit.',
  403: 'The key has no permission for this model.',
  404: 'The vendor does not have this model at this url.',
  429: 'The vendor is overloaded, or the key has reached its rate limit or quota.',
};

/** The vendor's list of models, which is free. */
export const MODEL_LIST: Question = { method: 'GET', path: '/models' };

/** A model at a channel to be tested. */
interface Target {
  readonly served: ServedModel;
  readonly source: Source;
}

/** Creates `Catalog.probe`. */
export function createProbe(host: Host, channels: Channels, catalog: ModelCatalog): Catalog['probe'] {
  const targetsOf = ({ channel }: Configured): readonly Target[] =>
    [...new Set(catalog.names().map((name) => catalog.require(name)))].flatMap((served) =>
      served.from.filter((source) => source.channel === channel).map((source) => ({ served, source })),
    );

  /** The test call in the first style that supports it; undefined if the channel serves only images or audio. */
  function questionFor({ served, source }: Target, configured: Configured): Question | undefined {
    for (const [name, asked] of Object.entries(QUESTIONS)) {
      const style = host.styles().get(name);
      const way = style && source.way(name);
      const spoken = way && host.styles().get(way.style);
      const dialect = way && configured.vendor.speaks[way.style];
      if (style === undefined || spoken === undefined || way === undefined || dialect === undefined) continue;
      const { channel, model } = source;
      const offer: Offer = { channel, model, ...way, strict: false, priced: served.name };
      const call = callOf(style, { ...asked, model: served.name });
      const body = translated({ ...asked, model }, style, spoken, offer);
      return {
        method: 'POST',
        model,
        path: typeof dialect.path === 'string' ? dialect.path : dialect.path(call, offer, NOBODY),
        headers: dialect.headers(channel, call, undefined, way.quirks),
        body: (dialect.request?.({ ...body }, offer, NO_FILES, UNHEARD) ?? body) as JsonObject,
      };
    }
    return undefined;
  }

  return async (name, model) => {
    const configured = channels.get(name);
    if (configured === undefined) throw errors.channel_not_found(name, didYouMean(name, [...channels.names]));
    const requestedModel = model === undefined ? undefined : catalog.require(model);
    const targets = targetsOf(configured).filter(
      ({ served }) => requestedModel === undefined || served === requestedModel,
    );
    if (requestedModel !== undefined && targets.length === 0)
      throw coreErrors.model_not_found(`The channel '${name}' does not serve '${requestedModel.name}'.`);
    if (configured.off)
      return { ok: false, model, status: undefined, latencyMs: 0, message: 'The channel is off: its key is empty.' };

    const startedMs = host.clock.mono();
    const outcome = (facts: Pick<Probe, 'ok' | 'model' | 'status' | 'message'>): Probe => ({
      ...facts,
      latencyMs: Math.round(host.clock.mono() - startedMs),
    });
    let call: { readonly question: Question; readonly model: string | undefined } = {
      question: MODEL_LIST,
      model: undefined,
    };
    for (const target of targets) {
      const question = questionFor(target, configured);
      if (question === undefined) continue;
      call = { question, model: target.served.name };
      break;
    }
    try {
      const { status, body } = await host.ask(configured.channel, call.question);
      const ok = status >= 200 && status < 300 && body !== undefined;
      return outcome({ ok, model: call.model, status, message: ok ? 'It answers.' : meaningOf(status) });
    } catch (error) {
      host.log.warn('a channel failed a test', { channel: name, error });
      return outcome({ ok: false, model: call.model, status: undefined, message: 'The vendor did not respond.' });
    }
  };
}

/** Explains the status of a vendor's answer. */
export function meaningOf(status: number): string {
  if (status >= 200 && status < 300) return 'The response is not JSON: check the url.';
  return MEANINGS[status] ?? (status >= 500 ? 'The vendor failed.' : 'The vendor refused the test call.');
}

/** The test call in the style of the channel. */
function translated(testBody: JsonObject, style: Style, spoken: Style, { channel, model, quirks }: Offer): JsonObject {
  return retell(testBody, style, spoken, { channel: channel.name, model, quirks }) ?? testBody;
}

/** The test call as if a client had made it. */
function callOf(style: Style, testBody: JsonObject): Call {
  const body = scanJson(Buffer.from(JSON.stringify(testBody)));
  return {
    style: style.name,
    body,
    ...style.ingress!.read(body, { headers: style.ingress!.headers ?? {}, params: {}, query: NOBODY.query }),
  };
}

const NOBODY = { method: 'POST', path: '', query: new URLSearchParams(), headers: {}, ip: '' };
const NO_FILES: Attachments = { list: [], base64: () => '' };
/** Warnings of the translation do not matter here. */
const UNHEARD: Warnings = {
  drop() {},
  leave() {},
  change() {},
  omit() {},
  nameOf: (field) => field,
  refuse(field, why): never {
    throw coreErrors.invalid_request_error(`${field} ${why}`);
  },
  bar(field, why) {
    this.refuse(field, why);
  },
};
