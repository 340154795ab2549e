/** The vendors' own lists of their models: read for a command and the console, and kept for the model lists of patterns. */
import type { Model } from '../../core/contracts/catalog.ts';
import type { Channel, Host, ModelListing } from '../../core/plugin.ts';
import { type Chore, createChore, starIn } from '../../core/sdk.ts';
import { isObject, objectsIn } from '../../core/translation/index.ts';
import type { ModelCatalog } from './catalog.ts';
import type { Channels, Configured } from './channels.ts';

/**
 * The lists of vendors that name no other, in the formats of the three common APIs: `{data: [{id}], has_more, last_id}` of
 * https://platform.openai.com/docs/api-reference/models and https://docs.anthropic.com/en/api/models-list, or
 * `{models: [{name: "models/…"}], nextPageToken}` of https://ai.google.dev/api/models.
 */
const USUAL: ModelListing = {
  path: (after) => (after === undefined ? '/models' : `/models?${after}`),
  read(answer) {
    if (!isObject(answer)) return undefined;
    const [list, member] = Array.isArray(answer.data) ? ['data', 'id'] : ['models', 'name'];
    if (!Array.isArray(answer[list])) return undefined;
    const names = objectsIn(answer, list).flatMap(({ [member]: name }) =>
      typeof name === 'string' ? [name.replace(/^models\//, '')] : [],
    );
    const { has_more: hasMore, last_id: last, nextPageToken: token } = answer;
    if (hasMore === true && typeof last === 'string') return { names, next: `after_id=${encodeURIComponent(last)}` };
    if (typeof token === 'string' && token !== '') return { names, next: `pageToken=${encodeURIComponent(token)}` };
    return { names };
  },
};

/** A vendor that never ends its pages is not believed. */
const MOST_PAGES = 50;
const MOST_NAMES = 5_000;
/** Names that a client can call through a pattern. */
const NAME = /^[\x21-\x29\x2b-\x7e]{1,200}$/;
const EVERY_MS = 3_600_000;

/** What a vendor listed, by the name and url of the channel. Survives a reload. */
export type VendorLists = Map<string, { readonly names: readonly string[]; readonly atMs: number }>;

/** Requests all pages of a vendor's list. Rejects, with a message for the operator, if it has none. */
export async function listModels(host: Host, { channel, vendor, off }: Configured): Promise<readonly string[]> {
  if (off) throw new Error('the channel is off: its key is empty');
  const listing = vendor.models ?? USUAL;
  const names = new Set<string>();
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { status, body } = await host.ask(channel, { method: 'GET', path: listing.path(after) });
    const found = status >= 200 && status < 300 && body !== undefined ? listing.read(body) : undefined;
    if (found === undefined) throw new Error(`the vendor has no list of models at this url (status ${status})`);
    for (const name of found.names) if (names.size < MOST_NAMES && NAME.test(name)) names.add(name);
    if (found.next === undefined || found.next === after) break;
    after = found.next;
  }
  return [...names].sort();
}

/** Keeps the lists of channels with `models: list`; if a vendor does not answer, the last list stays. */
export function createListChore(host: Host, lists: VendorLists, channels: () => Channels): Chore {
  return createChore(host, {
    everyMs: EVERY_MS,
    everywhere: true,
    failure: 'the lists of models could not be read',
    async work() {
      const listed = channels().all.filter((configured) => configured.lists && !configured.off);
      await Promise.all(
        listed.map(async (configured) => {
          const { channel } = configured;
          const kept = lists.get(placeOf(channel));
          // A reload does not read it again.
          if (kept !== undefined && kept.atMs + EVERY_MS > host.clock.now()) return;
          try {
            lists.set(placeOf(channel), { names: await listModels(host, configured), atMs: host.clock.now() });
          } catch (error) {
            host.log.warn('the list of models of a channel could not be read', { channel: channel.name, error });
          }
        }),
      );
    },
  });
}

function placeOf({ name, url }: Channel): string {
  return `${name}\n${url}`;
}

/** The public names that patterns have for the listed models of their channels, without names of other entries. */
export function namesOfPatterns(catalog: ModelCatalog, lists: VendorLists): readonly string[] {
  if (lists.size === 0) return [];
  const names = new Set<string>();
  for (const pattern of catalog.patterns()) {
    for (const { channel, model } of pattern.from) {
      for (const upstream of lists.get(placeOf(channel))?.names ?? []) {
        const star = starIn(model, upstream);
        const name = star === undefined ? '' : pattern.name.replace('*', () => star);
        if (catalog.find(name)?.entry === pattern.name) names.add(name);
      }
    }
  }
  return [...names].sort();
}

/** The public names for a model of a channel. */
export function publicNames(catalog: ModelCatalog, channel: string, model: string): readonly string[] {
  const exact = catalog.names().filter((name) => isAt(catalog.require(name).from, channel, model));
  const matched = catalog.patterns().flatMap((pattern) =>
    pattern.from.flatMap((source) => {
      const star = source.channel.name === channel ? starIn(source.model, model) : undefined;
      const name = star === undefined ? '' : pattern.name.replace('*', () => star);
      return catalog.find(name)?.entry === pattern.name ? [name] : [];
    }),
  );
  return [...new Set([...exact, ...matched])].sort();
}

function isAt(from: Model['from'], channel: string, model: string): boolean {
  return from.some((source) => source.channel.name === channel && source.model === model);
}
