/** A small question to a channel, as calls go there: whether it answers, whether it takes our key, whether it has the model. */
import type { Catalog, Probe } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Attachments, Call, Host, JsonObject, Losses, Offer, Question, Style } from '../../core/plugin.ts';
import { retell, scanJson } from '../../core/translation/index.ts';
import type { ModelCatalog, ServedModel } from './catalog.ts';
import type { Channels, Configured } from './channels.ts';
import { errors } from './errors.ts';
import { didYouMean } from './hint.ts';
import type { Source } from './source.ts';

/** The styles it can be asked in, and the question. What a model may answer is little, but enough for those that think first. */
const QUESTIONS: Readonly<Record<string, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'Say: ok' }], max_tokens: 16 },
  embeddings: { input: 'ok' },
};

/** What a refusal of the vendor's means here. Its own words may tell its address, or repeat our key. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The vendor does not take the question.',
  401: 'The vendor does not accept the key.',
  402: 'The vendor wants to be paid first.',
  403: 'The vendor does not accept the key for this.',
  404: 'The vendor has no such model, or not at this url.',
  429: 'The vendor has too much to do, or the key has nothing left there.',
};

/** A model where it is to be asked. */
interface Target {
  readonly served: ServedModel;
  readonly source: Source;
}

/** Makes `Catalog.probe`. */
export function createProbe(host: Host, channels: Channels, catalog: ModelCatalog): Catalog['probe'] {
  const targetsOf = ({ channel }: Configured): readonly Target[] =>
    [...new Set(catalog.names().map((name) => catalog.require(name)))].flatMap((served) =>
      served.from.filter((source) => source.channel === channel).map((source) => ({ served, source })),
    );

  /** The question in the first style in which it can be asked there; undefined where it is for images or sound. */
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
      const body = told({ ...asked, model }, style, spoken, offer);
      return {
        method: 'POST',
        model,
        path: typeof dialect.path === 'string' ? dialect.path : dialect.path(call, offer, NOBODY),
        headers: dialect.headers(channel, call, undefined),
        body: (dialect.request?.({ ...body }, offer, NO_FILES, UNHEARD) ?? body) as JsonObject,
      };
    }
    return undefined;
  }

  return async (name, model) => {
    const configured = channels.get(name);
    if (configured === undefined) throw errors.channel_not_found(name, didYouMean(name, [...channels.names]));
    const wanted = model === undefined ? undefined : catalog.require(model);
    const targets = targetsOf(configured).filter(({ served }) => wanted === undefined || served === wanted);
    if (wanted !== undefined && targets.length === 0)
      throw coreErrors.model_not_found(`The channel '${name}' does not serve '${wanted.name}'.`);
    if (configured.off)
      return { ok: false, model, status: undefined, latencyMs: 0, message: 'The channel is off: its key is empty.' };

    const startedMs = host.clock.mono();
    const outcome = (facts: Pick<Probe, 'ok' | 'model' | 'status' | 'message'>): Probe => ({
      ...facts,
      latencyMs: Math.round(host.clock.mono() - startedMs),
    });
    let asked: { readonly question: Question; readonly model: string | undefined } = {
      question: { method: 'GET', path: '/models' },
      model: undefined,
    };
    for (const target of targets) {
      const question = questionFor(target, configured);
      if (question === undefined) continue;
      asked = { question, model: target.served.name };
      break;
    }
    try {
      const { status, body } = await host.ask(configured.channel, asked.question);
      const ok = status >= 200 && status < 300 && body !== undefined;
      return outcome({ ok, model: asked.model, status, message: ok ? 'It answers.' : meaningOf(status) });
    } catch (error) {
      host.log.warn('a channel did not answer a test', { channel: name, error });
      return outcome({ ok: false, model: asked.model, status: undefined, message: 'There is no answer.' });
    }
  };
}

function meaningOf(status: number): string {
  if (status >= 200 && status < 300) return 'What comes back is not JSON: the url leads somewhere else.';
  return MEANINGS[status] ?? (status >= 500 ? 'The vendor has trouble of its own.' : 'The vendor refuses.');
}

/** The question in the style that is spoken there. */
function told(asked: JsonObject, style: Style, spoken: Style, { channel, model, quirks }: Offer): JsonObject {
  return retell(asked, style, spoken, { channel: channel.name, model, quirks }) ?? asked;
}

/** The question as a call that a client might have made. */
function callOf(style: Style, asked: JsonObject): Call {
  const body = scanJson(Buffer.from(JSON.stringify(asked)));
  return {
    style: style.name,
    body,
    ...style.ingress!.read(body, { headers: style.ingress!.headers ?? {}, params: {}, query: NOBODY.query }),
  };
}

const NOBODY = { method: 'POST', path: '', query: new URLSearchParams(), headers: {}, ip: '' };
const NO_FILES: Attachments = { list: [], base64: () => '' };
/** Nobody minds what a test loses on its way. */
const UNHEARD: Losses = {
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
