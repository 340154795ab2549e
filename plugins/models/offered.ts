/** The models that a vendor lists at a channel, in the formats of the three common APIs, all pages of them. */
import type { Catalog } from '../../core/contracts/catalog.ts';
import type { Host, Json } from '../../core/plugin.ts';
import type { Channels } from './channels.ts';
import { didYouMean } from './entries.ts';
import { errors } from './errors.ts';

const MOST_PAGES = 50;
const MOST_MODELS = 5_000;

/** Creates `Catalog.offered`. */
export function createOffered(host: Host, channels: Channels): Catalog['offered'] {
  return async (name) => {
    const configured = channels.get(name);
    if (configured === undefined) throw errors.channel_not_found(name, didYouMean(name, [...channels.names]));
    if (configured.off) throw new Error('the channel is off: its key is empty');
    const found = new Set<string>();
    let query = '';
    for (let pages = 0; pages < MOST_PAGES && found.size < MOST_MODELS; pages++) {
      const { status, body } = await host.ask(configured.channel, { method: 'GET', path: `/models${query}` });
      if (status < 200 || status > 299) throw new Error(`it answered with status ${status}`);
      const page = pageOf(body);
      if (page === undefined) throw new Error('its answer is not a list of models');
      for (const id of page.ids) found.add(id);
      if (page.next === undefined) break;
      query = `?${page.next}`;
    }
    return [...found].sort().slice(0, MOST_MODELS);
  };
}

interface ModelPage {
  readonly ids: readonly string[];
  /** The query of the next page; undefined: this is the last. */
  readonly next: string | undefined;
}

/**
 * `{data: [{id}], has_more, last_id}` of https://platform.openai.com/docs/api-reference/models and
 * https://docs.anthropic.com/en/api/models-list, or `{models: [{name: "models/…"}], nextPageToken}` of
 * https://ai.google.dev/api/models. Undefined: neither.
 */
function pageOf(body: Json | undefined): ModelPage | undefined {
  const { data, models, has_more, last_id, nextPageToken } = (
    typeof body === 'object' && body !== null ? body : {}
  ) as {
    readonly [K in 'data' | 'models' | 'has_more' | 'last_id' | 'nextPageToken']?: unknown;
  };
  const items = data ?? models;
  if (!Array.isArray(items)) return undefined;
  const ids = items.flatMap((item: { readonly id?: unknown; readonly name?: unknown } | null) => {
    const id = data === undefined ? item?.name : item?.id;
    return typeof id === 'string' && id !== '' ? [id.replace(/^models\//, '')] : [];
  });
  const next =
    has_more === true && typeof last_id === 'string'
      ? new URLSearchParams({ after_id: last_id })
      : typeof nextPageToken === 'string' && nextPageToken !== ''
        ? new URLSearchParams({ pageToken: nextPageToken })
        : undefined;
  return { ids, next: next?.toString() };
}
